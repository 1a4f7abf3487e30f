"""A small table's YAML, and records as a workflow would have left them."""

import gzip
import json
from pathlib import Path

import yaml

from experiments.runs import Run, Runs
from experiments.table_config import read_table


def declaration() -> dict:
    return {
        "title": "A table",
        "primary": "bleu",
        "choice": "validation nll",
        "seeds": [1, 2],
        "data": {"source": "src", "target": "tgt", "demo": "", "prepare": "--vocab-size 300"},
        "evaluation": {
            "metrics": ["bleu", "chrf"],
            "tokenize": "none",
            "lengths": "words",
            "bins": [5],
            "average": 0,
            "generate": "--beam 4",
        },
        "figures": {"UAS": {"command": "syntax-nmt trees {data}", "value": "uas"}},
        "families": {
            "transformer": {
                "training": "--max-update 10",
                "systems": {
                    "stock": {"options": "--arch a", "label": "Transformer"},
                    "heads": {"options": "--arch b", "figures": ["UAS"], "published": "38.6"},
                    "phrases": {"options": "--arch c"},
                },
            }
        },
    }


def runs_of(folder: Path, declared: dict) -> Runs:
    """The runs of a YAML, with the records in `folder/results`."""
    path = folder / "table.yaml"
    path.write_text(yaml.safe_dump(declared, sort_keys=False), encoding="utf-8")
    return Runs(read_table(path), None, None, folder / "results")


def write_record(runs: Runs, run: Run, lines: list[str] = (), **content) -> None:
    record = {
        "key": run.key,
        "seed": run.plan["seed"],
        "commit": "c" * 40,
        "data_checksum": "d",
        "device": "CPU",
        "cpu": "some processor",
        "threads": 1,
        "versions": {"torch": "2.13.0"},
        "parameters": 1000,
        "updates": 10,
        "seconds": 36.0,
        "tokens_per_second": 500.0,
        "training_nll": 3.0,
        "validation_nll": 4.0,
        "figures": {name: 90.0 for name in run.plan["figures"]},
        **content,
    }
    file = runs.records.file(run.name, run.key)
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(record), encoding="utf-8")
    write_translations(runs, run, lines)


def write_translations(runs: Runs, run: Run, lines: list[str], test: str = "test") -> None:
    text = "".join(f"{line}\n" for line in lines).encode()
    file = runs.records.file(run.name, run.key).with_suffix(f".{test}.gz")
    file.write_bytes(gzip.compress(text))


def write_test_set(
    runs: Runs, folder: Path, reference: list[str], name: str = "test", prepared: str = "test"
) -> None:
    """Prepared data, as far as tables read it."""
    (data,) = {plan["key"] for plan in runs.data.values()}
    texts = {f"corpus/{name}.tgt": reference, f"prepared/words/{prepared}.src": reference}
    texts |= {f"corpus/train.{lang}": [f"training {lang}"] for lang in ("src", "tgt")}
    for place, lines in texts.items():
        file = folder / "data" / data / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
