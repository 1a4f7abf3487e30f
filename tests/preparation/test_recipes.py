"""The dataset recipes, each on a small stand-in of its data; downloads from a server here."""

import gzip
import os
import random
import re
import subprocess
import sys
import threading
from collections.abc import Sequence
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import upstream
from commands import REPOSITORY
from sacrebleu.dataset import DATASETS
from upstream import RECIPES, write, write_tar

pytestmark = pytest.mark.dear

FOLDER = REPOSITORY / "preprocess"
FUNCTIONS = {name: FOLDER / f"{name}.sh" for name in ("recipe_functions", "wmt_functions")}
QUICK = ["--no-parse", "--vocab-size", "200"]
PAPERS = {
    "Harada and Watanabe (2021)": ("iwslt14", "europarl_de_en", "aspec"),
    "Xu et al. (ACL 2020)": ("wmt14_en_de", "wmt14_en_fr"),
    "Wang et al. (2019)": ("wmt14_en_de", "wmt17_zh_en", "nist_zh_en", "aspec"),
    "Zhou et al. (ACL 2017)": ("wmt15_de_en", "nist_zh_en"),
    "Zhang et al. (COLING 2018)": ("wmt16_en_de", "wmt17_en_de", "nist_zh_en"),
    "None of the papers": ("multi30k", "tanaka", "kftt"),
}


def run(command: Sequence[str | Path], cwd: Path | None = None, **changed: str):
    """Runs a command; the programs of this Python come first."""
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        list(map(str, command)),
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "PATH": programs, "OMP_NUM_THREADS": "1", **changed},
    )


def recipe(name: str, *options: str | Path, cwd: Path | None = None):
    """Runs a recipe."""
    return run(["bash", FOLDER / f"{name}.sh", *options], cwd)


def succeed(name: str, *options: str | Path, **where: Path) -> str:
    done = recipe(name, *options, **where)
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def refuse(name: str, *options: str | Path, **where: Path) -> str:
    """Runs a recipe that must refuse in one line that begins with its name."""
    done = recipe(name, *options, **where)
    assert done.returncode != 0, done.stdout
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"{name}.sh: error: "), line
    return line


def refuse_local(name: str, folder: Path) -> str:
    """Runs a recipe on files of a folder, which must lack something."""
    return refuse(name, "--from", folder, "--destdir", folder / "made", "--", "--no-parse")


def bash(script: str, *arguments: str | Path, **changed: str):
    """Runs a script that has sourced the functions, under the name of a recipe."""
    functions = FUNCTIONS["wmt_functions"]  # it reads the others
    whole = f'set -euo pipefail\n. "{functions}"\n{script}'
    return run(["bash", "-c", whole, "multi30k.sh", *arguments], **changed)


NOISE = [str(random.Random(seed).random()) for seed in range(5000)]  # it does not compress


def lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


# ---- every recipe


def test_every_recipe_has_its_test_tree():
    scripts = {path.stem for path in FOLDER.glob("*.sh")} - set(FUNCTIONS)
    assert scripts == set(RECIPES)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.sh")), ids=lambda path: path.name)
def test_bash_reads_it(path):
    subprocess.run(["bash", "-n", path], check=True)
    assert max(map(len, lines_of(path))) <= 100


@pytest.mark.parametrize("name", RECIPES)
def test_help_says_what_it_does_whose_settings_these_are_and_how_large_it_is(name):
    said = succeed(name, "--help")
    assert f"bash preprocess/{name}.sh" in said
    assert "Disk: " in said
    assert f"outputs/{name}." in said
    said = " ".join(said.split())
    assert all((paper in said) == (name in names) for paper, names in PAPERS.items())


def test_archives_of_test_sets_are_those_of_sacrebleu():
    script = 'archive() { echo "$1 $2 $3 $4 $5"; path[$4]=; path[$5]=; }; declare -A path\n'
    script += 'source_lang=$1 target_lang=$2; newstest "$3"'
    of_years = ("de-en en-fr", "en-de fr-en", "en-de de-en en-fr fr-en", "en-de de-en")
    for year, pairs in enumerate((*of_years, "en-de de-en", "en-de zh-en en-zh"), start=2012):
        known = DATASETS["wmt14/full" if year == 2014 else f"wmt{year - 2000}"]
        for pair in pairs.split():
            done = bash(script, *pair.split("-"), str(year))
            assert done.returncode == 0, done.stderr
            archive, url, md5, *names = done.stdout.split()
            # Of test.tgz there is one a year; test-full.tgz is known by its name alone.
            others = "|test-full.tgz" if year == 2014 else ""
            assert archive == f"wmt{year - 2000}/{Path(url).name}{others}"
            assert ([url], [md5]) == (known.data, known.md5)
            assert names == [Path(name).name for name in known.langpairs[pair]]


def test_dev_set_of_wmt17_zh_en_is_that_of_sacrebleu():
    known = DATASETS["wmt17/dev"]
    script = (FOLDER / "wmt17_zh_en.sh").read_text()
    assert known.data[0] in script
    assert known.md5[0] in script
    assert Path(known.langpairs["zh-en"][0]).name == "newsdev2017-zhen-src.zh.sgm"


# ---- end to end


def check_run(name: str, tmp_path: Path) -> Path:
    """Runs a recipe on its stand-in; gives the folder it made."""
    folder = tmp_path / "local"
    folder.mkdir()
    made = RECIPES[name](folder)
    destdir = tmp_path / "made"
    said = succeed(name, *made.options, "--destdir", destdir, "--", *QUICK)
    for text in made.said:
        assert text in said
    script = (FOLDER / f"{name}.sh").read_text(encoding="utf-8")
    source, target = re.search(r"^source_lang=(\w+) target_lang=(\w+)", script, re.M).groups()
    corpus, data_bin = destdir / "corpus", destdir / "prepared" / "data-bin"
    for split, count in made.lines.items():
        texts = [lines_of(corpus / f"{split}.{lang}") for lang in (source, target)]
        assert [len(text) for text in texts] == [count, count], split
        # The number that ends each line of the stand-ins says which translation it is.
        numbers = [[line.split(" & ")[0].replace(" ", "")[-1] for line in text] for text in texts]
        assert numbers[0] == numbers[1], split
    assert (data_bin / f"train.{source}-{target}.{source}.idx").is_file()
    assert not list(destdir.rglob("*.part"))
    return destdir


CHECKED_FURTHER = {"iwslt14", "nist_zh_en", "aspec", "europarl_de_en"}  # below
OTHERS = sorted(set(RECIPES) - CHECKED_FURTHER - {"multi30k"})


@pytest.mark.parametrize(
    "name", ["multi30k", *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)]
)
def test_recipe(name, tmp_path):
    check_run(name, tmp_path)


@pytest.mark.slow
def test_iwslt14_is_lower_case_without_talk_data_and_every_23rd_pair_validates(tmp_path):
    corpus = check_run("iwslt14", tmp_path) / "corpus"
    train, valid = lines_of(corpus / "train.de"), lines_of(corpus / "valid.de")
    assert train[:2] == ["haus & garten & mehr", "ted"]
    assert all(line == line.lower() for line in train)
    # Lines 3, 4, … are sentences 0, 1, …: the 23rd line is sentence 20.
    assert [line.split()[-1] for line in valid] == ["20", "43", "66", "89"]
    assert len(set(lines_of(corpus / "test.de"))) == 3  # five sets of the same three sentences


@pytest.mark.slow
def test_nist_keeps_every_reference_and_lowers_the_english(tmp_path):
    corpus = check_run("nist_zh_en", tmp_path) / "corpus"
    first, second = (lines_of(corpus / f"mt03.en{number}") for number in (0, 1))
    assert first == lines_of(corpus / "mt03.en")
    assert len(first) == len(second) == 4
    assert lines_of(corpus / "valid.zh") == lines_of(corpus / "mt02.zh")
    assert all(line == line.lower() for line in lines_of(corpus / "train.en"))


@pytest.mark.slow
def test_aspec_takes_the_pairs_that_match_best(tmp_path):
    corpus = check_run("aspec", tmp_path) / "corpus"
    scores = {number: 1 - ((7 * number) % 90) / 100 for number in range(90)}
    best = sorted(scores, key=lambda number: -scores[number])[:50]
    assert [int(line.split()[-1]) for line in lines_of(corpus / "train.en")] == best


@pytest.mark.slow
def test_europarl_leaves_out_the_gold_sentences_and_can_do_without_gold(tmp_path):
    made = check_run("europarl_de_en", tmp_path)
    train = lines_of(made / "corpus" / "train.de")
    assert not set(lines_of(made / "corpus" / "test.de")) & set(train)
    assert len(lines_of(made / "corpus" / "test.talp")) == 3
    local = tmp_path / "local"
    (local / "DeEnGoldAlignment.tar.gz").unlink()
    line = refuse("europarl_de_en", "--from", local, "--destdir", made, "--", *QUICK)
    assert "www-i6.informatik.rwth-aachen.de/goldAlignment" in line
    options = ["--from", local, "--no-gold", "--destdir", tmp_path / "without", "--", *QUICK]
    assert "kept 2,000 of 2,000" in succeed("europarl_de_en", *options)


@pytest.mark.slow
def test_other_direction_and_settings_of_the_user_come_last(tmp_path):
    local = tmp_path / "local"
    local.mkdir()
    upstream.multi30k(local)
    options = ["--from", local, "--source-lang", "de", "--target-lang", "en"]
    succeed("multi30k", *options, "--destdir", tmp_path / "made", "--", *QUICK)
    data_bin = tmp_path / "made" / "prepared" / "data-bin"
    assert (data_bin / "test.de-en.de.idx").is_file()
    assert len(lines_of(data_bin / "dict.de.txt")) <= 200


# ---- interruptions


def test_a_step_is_done_once_unless_its_inputs_arguments_or_outputs_change(tmp_path):
    given, made = tmp_path / "given", tmp_path / "made"
    given.write_text("one")
    script = 'step() { cat "$1" >"$2"; echo ran; }\nonce "$2" : "$1" : step "$1" "$2" $3'

    def ran(*more: str) -> bool:
        done = bash(script, given, made, *(more or [""]))
        assert done.returncode == 0, done.stderr
        return "ran" in done.stdout

    assert ran()
    assert not ran()
    given.write_text("other")
    assert ran()
    assert made.read_text() == "other"
    assert ran("argument")
    made.unlink()
    assert ran("argument")
    assert not ran("argument")


def test_a_step_that_failed_is_not_taken_for_done(tmp_path):
    given, made = tmp_path / "given", tmp_path / "made"
    given.write_text("one")
    script = 'step() { echo half >"$2"; [ -z "$3" ]; }\nonce "$2" : "$1" : step "$1" "$2" "${3-}"'
    for _ in range(2):
        assert bash(script, given, made, "fails").returncode != 0
        assert "done before" not in bash(script, given, made).stdout
        assert "done before" in bash(script, given, made).stdout


# ---- refusals


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("multi30k", ["--form", "x"], "unknown option --form"),
        ("multi30k", ["train.en"], "unexpected argument 'train.en'"),
        ("multi30k", ["--from"], "--from needs a value"),
        ("multi30k", ["--from", "nowhere"], "--from nowhere: there is no such folder"),
        ("multi30k", ["--target-lang", "ja"], "--source-lang en --target-lang ja: only en-de, "),
        ("multi30k", ["--cased"], "unknown option --cased"),
        ("multi30k", ["--destdir", "a,b"], "--destdir a,b: fairseq takes , and : for the end"),
        ("multi30k", ["--destdir", "a:b"], "--destdir a:b: fairseq takes , and : for the end"),
        ("multi30k", ["--destdir", "-a"], "--destdir -a: fairseq takes it for an option"),
        ("wmt17_zh_en", [], "--cwmt DIR is missing"),
        ("aspec", ["--pairs", "many"], "--pairs many: not a number"),
        ("nist_zh_en", ["--", "--no-parse"], "LDC2002E18.zh (catalog.ldc.upenn.edu/LDC2002E18); "),
        ("aspec", ["--", "--no-parse"], "give the folder with these files by --from: ASPEC-JE"),
    ],
)
def test_refusals(name, options, expected, tmp_path):
    assert expected in refuse(name, *options, cwd=tmp_path)


@pytest.mark.parametrize("name", sorted(set(RECIPES) - {"wmt17_zh_en", "europarl_de_en"}))
def test_what_is_missing_is_named_with_where_it_comes_from(name, tmp_path):
    line = refuse_local(name, tmp_path)
    assert f"--from {tmp_path} lacks " in line
    assert ("leave out --from to download" in line) == (name not in ("nist_zh_en", "aspec"))
    assert "://" in line or "catalog.ldc.upenn.edu" in line or "jipsti.jst.go.jp" in line


def test_only_what_is_missing_is_named_and_what_is_there_twice(tmp_path):
    upstream.multi30k(tmp_path)
    (tmp_path / "val.de").unlink()
    line = refuse_local("multi30k", tmp_path)
    assert line.endswith("val.de (https://raw.githubusercontent.com/multi30k/dataset/master/data/"
                         "task1/raw/val.de.gz)")  # fmt: skip
    assert "train" not in line
    for folder in ("old", "new"):
        write(tmp_path / folder / "val.de", ["x"])
    assert "has val.de more than once" in refuse_local("multi30k", tmp_path)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--stanza-dir", "."], "syntax-nmt: error: no Stanza models"),
        (["--no-parse", "--nonsense"], "error: unrecognized arguments: --nonsense"),
    ],
)
def test_mistakes_of_prepare_are_reported_before_anything_else(tmp_path, options, said):
    done = recipe("multi30k", "--from", tmp_path, "--", *options, cwd=tmp_path)
    assert done.returncode != 0
    (line,) = [line for line in done.stderr.splitlines() if "error" in line]
    assert said in line
    assert "lacks" not in done.stderr


@pytest.mark.parametrize("place", ["test-full.tgz", "wmt14/test-full.tgz"])
def test_the_test_set_of_2014_is_found_with_and_without_its_year(tmp_path, place):
    names = [f"newstest2014-deen-{kind}.sgm" for kind in ("src.en", "ref.de")]
    (tmp_path / place).parent.mkdir(exist_ok=True)
    write_tar(tmp_path / place, {f"test-full/{name}": ["<seg>"] for name in names})
    script = 'declare -A path; missing=() may_download="" from=$1 destdir=$1/made\n'
    script += 'source_lang=en target_lang=de; mkdir -p "$destdir/raw"; newstest 2014\n'
    script += 'cat "${path[newstest2014.src]}" "${path[newstest2014.ref]}"'
    done = bash(script, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("<seg>\n<seg>\n")


@pytest.mark.parametrize("folder", ["o&2 x", "c:d"])
def test_odd_names_of_folders(tmp_path, folder):
    """`&` is the match in replacements of bash 5.2, and a `:` stands before a number of lines."""
    given = tmp_path / folder
    given.mkdir()
    (given / "train.en").write_text("a\n")
    script = "from=$1 corpus=$1 source_lang=en target_lang=de destdir=$1 prepare=(echo)\n"
    script += "declare -A path; missing=(); archive a.tgz url - train.en\n"
    script += 'echo "${path[train.en]}"; exec() { printf "%s\\n" "$@"; }; prepare_corpus a b'
    done = bash(script, given)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == f"{given}/train.en"
    assert f"--testpref\n{given}/a,{given}/b\n" in done.stdout


def test_validation_text_that_is_held_out_is_made_again_when_it_is_lost(tmp_path):
    (tmp_path / "talks").write_text("a\n")
    script = "corpus=$1 source_lang=de target_lang=en prepare_options=(); declare -A path\n"
    script += "path[talks]=$1/talks\n"
    script += 'clean() { echo cleaned; touch "$corpus/"{train,valid}.{de,en}; }\n'
    script += 'training_text talks talks --hold-out-every 23 --hold-out "$corpus/valid"'
    assert "cleaned" in bash(script, tmp_path).stdout
    assert "train.de: done before" in bash(script, tmp_path).stdout
    for lost in ("valid.de", "valid.en", "train.en"):
        (tmp_path / lost).unlink()
        assert "cleaned" in bash(script, tmp_path).stdout
        assert (tmp_path / lost).is_file()


@pytest.mark.parametrize("damage", ["truncated", "other"])
def test_damaged_archive(tmp_path, damage):
    archive = tmp_path / "a.tgz"
    if damage == "truncated":
        write_tar(archive, {"x": NOISE})
        archive.write_bytes(archive.read_bytes()[:9000])
    else:
        write_tar(archive, {"y": ["1"]})
    script = 'destdir=$1; mkdir -p "$1/raw"; declare -A path\nunpack "$2" x'
    done = bash(script, tmp_path / "made", archive)
    assert done.returncode != 0
    (line,) = done.stderr.splitlines()
    wanted = "damaged or no tar archive" if damage == "truncated" else "x is not in it"
    assert line.startswith(f"multi30k.sh: error: {archive}: {wanted}")
    assert not (tmp_path / "made/raw/x").exists()


# ---- downloads


class Handler(BaseHTTPRequestHandler):
    """Serves a folder, from any byte on; of what is in `broken` only the first half, once."""

    def __init__(self, *args, folder: Path, broken: set[str], asked: list[str], **kwargs):
        self.folder, self.broken, self.asked = folder, broken, asked
        super().__init__(*args, **kwargs)

    def do_GET(self):
        name = self.path.lstrip("/")
        self.asked.append(f"{name} {self.headers.get('Range', '')}".strip())
        path = self.folder / name
        if not path.is_file():
            self.send_error(404)
            return
        content = path.read_bytes()
        start = int(self.headers.get("Range", "bytes=0-")[6:].split("-")[0])
        if start >= len(content):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(content) - start))
        self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.end_headers()
        if name in self.broken:
            self.broken.remove(name)
            content = content[: len(content) // 2]
        self.wfile.write(content[start:])

    def log_message(self, *args):
        pass


class Server:
    def __init__(self, folder: Path) -> None:
        self.folder, self.broken, self.asked = folder, set(), []
        handler = partial(Handler, folder=folder, broken=self.broken, asked=self.asked)
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()


@pytest.fixture
def server(tmp_path):
    (tmp_path / "served").mkdir()
    made = Server(tmp_path / "served")
    yield made
    made.http.shutdown()


@pytest.fixture(params=["curl", "wget"])
def fetch(request, tmp_path):
    """Downloads with one of the two programs, the other being out of reach."""
    programs = tmp_path / "programs"
    programs.mkdir()
    needed = "bash basename dirname mkdir mv rm cat stat md5sum cut gzip tar tail"
    for name in [*needed.split(), request.param]:
        found = subprocess.run(["which", name], capture_output=True, text=True).stdout.strip()
        if not found:
            pytest.skip(f"no {name} here")
        (programs / name).symlink_to(found)

    def run(url: str, file: Path, md5: str = "-"):
        no_proxy = {"no_proxy": "127.0.0.1", "http_proxy": "", "PATH": str(programs)}
        return bash('fetch "$1" "$2" "$3"', url, file, md5, **no_proxy)

    return run


def one_line(done) -> str:
    assert done.returncode != 0, done.stdout
    (line,) = done.stderr.splitlines()
    assert line.startswith("multi30k.sh: error: "), line
    return line


def test_a_download_takes_its_name_when_it_is_whole_and_is_not_repeated(fetch, server, tmp_path):
    (server.folder / "a.txt").write_bytes(b"abc")
    file = tmp_path / "a.txt"
    for _ in range(2):
        done = fetch(f"{server.url}/a.txt", file, "900150983cd24fb0d6963f7d28e17f72")
        assert done.returncode == 0, done.stderr
    assert file.read_bytes() == b"abc"
    assert server.asked == ["a.txt"]


@pytest.mark.parametrize("there", [60_000, None])
def test_a_download_that_was_interrupted_goes_on_where_it_was(fetch, server, tmp_path, there):
    """Also one that was complete, but not renamed."""
    content = gzip.compress(random.Random(1).randbytes(100_000))
    (server.folder / "a.gz").write_bytes(content)
    file, part = tmp_path / "a.gz", tmp_path / "a.gz.part"
    part.write_bytes(content[:there])
    done = fetch(f"{server.url}/a.gz", file)
    assert done.returncode == 0, done.stderr
    assert file.read_bytes() == content
    assert not part.exists()
    assert server.asked[0] == f"a.gz bytes={there or len(content)}-"


def test_a_connection_that_breaks_leaves_a_part_to_go_on_with(server, tmp_path):
    content = random.Random(1).randbytes(400_000)
    (server.folder / "a.bin").write_bytes(content)
    server.broken.add("a.bin")
    fetched = partial(bash, 'fetch "$1" "$2"', f"{server.url}/a.bin", tmp_path / "a.bin")
    assert "run this again to resume" in one_line(fetched())
    assert not (tmp_path / "a.bin").exists()
    assert fetched().returncode == 0
    assert (tmp_path / "a.bin").read_bytes() == content
    assert server.asked[-1] == "a.bin bytes=200000-"


def test_what_is_not_there_is_one_line(fetch, server, tmp_path):
    line = one_line(fetch(f"{server.url}/missing.tgz", tmp_path / "missing.tgz"))
    assert f"{server.url}/missing.tgz: cannot be downloaded (HTTP status 404" in line
    assert not (tmp_path / "missing.tgz").exists()


@pytest.mark.parametrize("kind", ["gz", "tar", "md5", "empty"])
def test_a_damaged_download_is_detected_and_removed(fetch, server, tmp_path, kind):
    names = {"gz": "a.tgz", "tar": "a.tar", "md5": "a.txt", "empty": "a.txt"}
    path = server.folder / names[kind]
    if kind in ("gz", "tar"):
        write_tar(path, {"x": NOISE})
        path.write_bytes(path.read_bytes()[:20_000])
    else:
        path.write_bytes(b"" if kind == "empty" else b"something else")
    md5 = "0" * 32 if kind == "md5" else "-"
    file = tmp_path / path.name
    line = one_line(fetch(f"{server.url}/{path.name}", file, md5))
    assert "run this again to fetch it anew" in line or kind == "empty"
    assert not file.exists()
    assert not file.with_name(file.name + ".part").exists() or kind == "empty"


def test_another_number_of_lines_is_said(tmp_path):
    """A newer edition may have it; that both sides are parallel is checked in any case."""
    (tmp_path / "text").write_text("a\nb\n")
    assert bash('check_lines "$1" 2', tmp_path / "text").stdout == ""
    said = bash('check_lines "$1" 3', tmp_path / "text").stdout
    assert said == f"note: {tmp_path}/text has 2 lines, not the 3 that were expected\n"
