"""Small models built through fairseq's own command line, and batches for them."""

from argparse import Namespace
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path

import numpy as np
import torch
from fairseq import checkpoint_utils, options, tasks, utils
from fairseq.data import Dictionary, LanguagePairDataset
from fairseq.dataclass.utils import (
    convert_namespace_to_omegaconf,
    omegaconf_no_object_check,
    overwrite_args_by_name,
)
from fairseq.models import ARCH_MODEL_REGISTRY
from fairseq.models.transformer import TransformerModel
from fairseq.registry import REGISTRIES
from methods import in_small
from omegaconf import DictConfig, OmegaConf
from phrase_loops import ngrams

from syntax_nmt.data.annotation import (
    CHUNKS,
    HEADS,
    KINDS,
    PHRASES,
    TARGET_HEADS,
    TARGET_TREES,
    TREES,
)
from syntax_nmt.data.annotation.columns import UNKNOWN
from syntax_nmt.data.annotation.kind import AnnotationKind, BatchedText
from syntax_nmt.data.annotation.trees import merge_row
from syntax_nmt.data.binarised_annotation import BinarisedAnnotation
from syntax_nmt.data.merges import random_merges
from syntax_nmt.data.projection import project_heads
from syntax_nmt.data.ragged import RaggedArray
from syntax_nmt.data.subwords import pieces_per_word, vocabulary_scheme
from syntax_nmt.data.syntax_dataset import SyntaxDataset
from syntax_nmt.models.syntax_hybrid import SyntaxHybrid
from syntax_nmt.task.annotation_inputs import AnnotationInputs
from syntax_nmt.text.languages import SOURCE

VOCABULARY = 40
LABELS = ("NP", "VP", "O")

WIDTH = 16


def labels_of(kind: AnnotationKind) -> tuple[str, ...]:
    """As many for every kind."""
    return LABELS if kind is CHUNKS else (UNKNOWN, *LABELS[1:])


def families(arch: str, arguments: Sequence[str] = ()) -> dict[str, str]:
    """Of encoder and decoder."""
    model = ARCH_MODEL_REGISTRY[arch]
    if not issubclass(model, SyntaxHybrid):
        family = "transformer" if issubclass(model, TransformerModel) else "rnn"
        return {"encoder": family, "decoder": family}
    chosen = {"encoder": "transformer", "decoder": "rnn"}
    for half in chosen:
        for argument in arguments:
            if argument.startswith(f"--{half}-family="):
                chosen[half] = argument.partition("=")[2]
    return chosen


def small_sizes(arch: str, width: int, arguments: Sequence[str] = ()) -> list[str]:
    """Options that keep an architecture small, whatever its preset says; dropout off.

    fairseq's own `transformer`, which has no option of this package, passes through here, too.
    """
    of = families(arch, arguments)
    sizes = ["--encoder-embed-dim", width, "--decoder-embed-dim", width, "--dropout", 0]
    if "transformer" in of.values():
        sizes += ["--attention-dropout", 0, "--activation-dropout", 0]
    for half, family in of.items():
        if family == "transformer":
            sizes += [f"--{half}-ffn-embed-dim", 2 * width, f"--{half}-layers", 2]
            sizes += [f"--{half}-attention-heads", 4]
        else:
            sizes += [f"--{half}-hidden-size", width]
    if of["decoder"] == "rnn":
        sizes += ["--attention-dim", width, "--decoder-out-embed-dim", width]
    related = arch.startswith("relation") or any("--relation-kernels" in x for x in arguments)
    if "rnn" in of.values() and related:
        sizes += ["--relation-hidden-dim", width]
    return [str(part) for part in (*sizes, *(in_small(arch) if width == WIDTH else ()))]


def write_dictionaries(folder: Path, pieces: bool = False) -> Path:
    """A data folder that holds dictionaries alone, of w0, w1, … for both sides, and chunk types.

    With `pieces` every third entry opens no word, as sentencepiece writes it; one is a lone mark.
    """
    dictionary = Dictionary()
    for index in range(VOCABULARY - len(dictionary)):
        mark = "▁" if pieces and index % 3 else ""
        dictionary.add_symbol("▁" if pieces and index == 1 else f"{mark}w{index}")
    for language in ("src", "tgt"):
        dictionary.save(str(folder / f"dict.{language}.txt"))
    for kind in KINDS:
        if kind.labels_file is not None:
            labels = "".join(f"{label}\n" for label in labels_of(kind))
            (folder / kind.labels_file).write_text(labels)
    return folder


def build(
    folder: Path,
    arch: str,
    *arguments: str,
    task: str = "syntax_translation",
    width: int = WIDTH,
):
    """A model, its task and its options, as `fairseq-train` would build them."""
    parser = options.get_training_parser()
    command = [str(folder), "--arch", arch, "--task", task, "-s", "src", "-t", "tgt"]
    # Not fairseq's default, where somebody's own training may have left a model.
    command += ["--save-dir", str(folder / "checkpoints")]
    args = options.parse_args_and_arch(
        parser, [*command, *small_sizes(arch, width, arguments), *arguments]
    )
    cfg = configuration(args)
    task_ = tasks.setup_task(cfg.task)
    torch.manual_seed(7)
    return task_.build_model(cfg.model).eval(), task_, cfg


def configuration(args: Namespace) -> DictConfig:
    """What fairseq's `convert_namespace_to_omegaconf` makes of the options of a command line.

    It takes a quarter of a second, so what it made is kept for each choice of a task, a criterion
    and so on, and fairseq's own function puts the values of other options there.
    """
    chosen = tuple(getattr(args, name, None) for name in ("task", *REGISTRIES))
    if chosen not in _KEPT:
        _KEPT[chosen] = convert_namespace_to_omegaconf(args)
    cfg = deepcopy(_KEPT[chosen])
    overwrite_args_by_name(cfg, vars(args))
    with omegaconf_no_object_check():
        for name, part in cfg.items():
            if isinstance(part, Namespace):  # `deepcopy` kept that of the first model
                cfg[name] = Namespace(**vars(args))
    cfg.model._name = args.arch
    return cfg


_KEPT: dict[tuple[str | None, ...], DictConfig] = {}


def enlarge(model: torch.nn.Module, factor: float = 4.0) -> torch.nn.Module:
    """Makes parameters larger, so that everything matters.

    The RNN family begins in (−0.1, 0.1), which at a small width lets next to nothing through.
    """
    with torch.no_grad():
        for parameter in set(model.parameters()):
            parameter.mul_(factor)
    return model


def open_gate(model: torch.nn.Module) -> torch.nn.Module:
    """Makes the gate of a bi-scale decoder choose both, to open chunks and not to."""
    with torch.no_grad():
        gate = model.decoder.recurrence.gate
        gate.state.weight.mul_(4)
        gate.word.weight.mul_(4)
        gate.output.bias.zero_()
    return model


def random_sentences(lengths: Sequence[int], seed: int = 3) -> list[torch.Tensor]:
    """Token ids of real words, EOS at the end, so that a length counts EOS."""
    generator = torch.Generator().manual_seed(seed)
    eos = torch.tensor([2])
    return [
        torch.cat([torch.randint(4, VOCABULARY, (length - 1,), generator=generator), eos])
        for length in lengths
    ]


def batch(
    dictionary: Dictionary,
    sources: Sequence[torch.Tensor],
    targets: Sequence[torch.Tensor],
    left_pad_source: bool = True,
    pad_to: tuple[int, int] | None = None,
    left_pad_target: bool = False,
    annotation: Sequence[BinarisedAnnotation] = (),
) -> dict:
    """A batch as fairseq collates it, sorted back to the given order; `pad_to` widens it."""
    dataset = LanguagePairDataset(
        sources,
        [len(s) for s in sources],
        dictionary,
        targets,
        [len(t) for t in targets],
        dictionary,
        left_pad_source=left_pad_source,
        left_pad_target=left_pad_target,
    )
    dataset = SyntaxDataset(dataset, annotation)
    widths = None if pad_to is None else {"source": pad_to[0], "target": pad_to[1]}
    sample = dataset.collater([dataset[i] for i in range(len(dataset))], pad_to_length=widths)
    order = sample["id"].argsort()
    return utils.apply_to_sample(
        lambda x: x[order] if x.dim() and x.size(0) == len(order) else x, sample
    )


def pieces_of_words(dictionary: Dictionary, tokens: Sequence[int]) -> list[int]:
    """The number of pieces of each word."""
    scheme = vocabulary_scheme(dictionary)
    return pieces_per_word([dictionary[token] for token in tokens], scheme, "")


def draw(kind, size, labels, random):
    """The row of a sentence of at least 1 subword; `labels` is their number."""
    draws = {
        HEADS: draw_heads,
        TARGET_HEADS: draw_heads,
        PHRASES: draw_phrases,
        TREES: draw_trees,
        TARGET_TREES: draw_trees,
        CHUNKS: lambda *of: draw_chunks(*of, labels),
    }
    if kind in draws:
        return draws[kind](size, random)
    return random.integers(1, labels + 1, size=size, dtype=np.int32)  # of a column


def draw_heads(size, random):
    """Each subword depends on an earlier one, in a random order."""
    order = random.permutation(size)
    heads = np.empty(size, dtype=np.int32)
    heads[order[0]] = order[0]
    for position in range(1, size):
        heads[order[position]] = order[random.integers(position)]
    return heads


def draw_phrases(size, random):
    """Cut at every second place on average."""
    ends = [*np.flatnonzero(random.integers(2, size=size - 1)) + 1, size]
    return np.diff(ends, prepend=0).astype(np.int32)


def batch_of_trees(rows, words, left_pad=True, wider=0):
    """The tensors of TREES in a batch, padding B×S, and the columns of first tokens.

    Args:
        rows: of sentences, as binarised.
        words: the number of tokens of each sentence, without EOS.
        wider: columns of pads beyond the longest sentence.
    """
    sizes = np.array(words) + 1
    width = int(sizes.max()) + wider
    text = BatchedText(np.arange(len(words)), sizes, width, left_pad)
    found = BinarisedAnnotation(TREES, RaggedArray.from_rows(rows)).batched(text)
    first = [width - size if left_pad else 0 for size in sizes.tolist()]
    padding = torch.ones(len(words), width, dtype=torch.bool)
    for row, (start, size) in enumerate(zip(first, sizes.tolist())):
        padding[row, start : start + size] = False
    return found, padding, first


def draw_trees(size, random):
    """Neighbours merge in a random order."""
    return merge_row(random_merges(size, random))


def draw_chunks(size, random, labels):
    """A chunk begins at the first subword, and at every second on average."""
    opens = random.integers(2, size=size)
    opens[0] = 1
    return (opens * random.integers(1, labels + 1, size=size)).astype(np.int32)


def random_annotation(
    model: torch.nn.Module, dictionary: Dictionary, sources: Sequence[torch.Tensor],
    targets: Sequence[torch.Tensor], seed: int = 0,
) -> list[BinarisedAnnotation]:  # fmt: skip
    """What a model reads and learns, drawn at random by each sentence's own tokens and the seed.

    About every fourth sentence has no annotation.
    """
    found = []
    for kind in dict.fromkeys((*model.reads_annotation, *model.learns_annotation)):
        rows = []
        for tokens in sources if kind.side == SOURCE else targets:
            size, numbers = len(tokens) - 1, tokens.tolist()
            random = np.random.default_rng([seed, *numbers])
            if size == 0 or numbers[0] % 4 == 0:
                rows.append(kind.no_row(size))
            elif kind in (HEADS, TARGET_HEADS):  # of words, which may have several pieces
                counts = pieces_of_words(dictionary, numbers[:-1])
                heads = draw(kind, len(counts), len(LABELS), random)
                rows.append(project_heads(heads.tolist(), counts))
            else:
                rows.append(draw(kind, size, len(LABELS), random))
        labels = labels_of(kind) if kind.labels_file else ()
        found.append(BinarisedAnnotation(kind, RaggedArray.from_rows(rows), labels))
    return found


def annotated_batch(
    model: torch.nn.Module,
    task,
    sources: Sequence[torch.Tensor],
    targets: Sequence[torch.Tensor],
    *layout,
    seed: int = 0,
    searches: bool = False,
) -> dict:
    """A batch with the annotation that a model declares, handed over as the task does.

    With `searches` without what belongs to the target.
    """
    annotation = random_annotation(model, task.source_dictionary, sources, targets, seed)
    sample = batch(task.source_dictionary, sources, targets, *layout, annotation=annotation)
    inputs = AnnotationInputs((), {})
    if searches:
        return inputs.for_inference([model], sample, None, scores=False)
    return inputs.for_forward([model], sample)


def fill_zeros(model: torch.nn.Module, std: float = 0.1) -> torch.nn.Module:
    """Draws parameters that begin as zeros, as biases do, so that what they weigh matters."""
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in model.parameters():
            if not parameter.any():
                parameter.normal_(std=std, generator=generator)
    return model


def chain_heads(tokens: torch.Tensor, dictionary: Dictionary) -> torch.Tensor:
    """Heads, B×S, of trees in which each word hangs on the one before it, for a batch's source."""
    columns = torch.arange(tokens.size(1)).expand_as(tokens)
    real = tokens.ne(dictionary.pad()) & tokens.ne(dictionary.eos())
    first = tokens.ne(dictionary.pad()).int().argmax(dim=1, keepdim=True)
    return torch.maximum(columns - 1, first).masked_fill(~real, -1)


def phrases_of_tokens(src_tokens: torch.Tensor, task) -> torch.Tensor:
    """Phrase lengths, B×P, that depend on each sentence's own tokens alone.

    A phrase ends after a word of even number, and EOS is one of its own; a sentence that begins
    with every third word has no parse, and n-grams.
    """
    dictionary, rows = task.source_dictionary, []
    for line in src_tokens.tolist():
        tokens = [token for token in line if token != dictionary.pad()]
        lengths, open_tokens = [], 0
        for token in tokens[:-1]:
            open_tokens += 1
            if token % 2 == 0:
                lengths, open_tokens = [*lengths, open_tokens], 0
        lengths += [open_tokens] * (open_tokens > 0) + [1]
        rows.append(ngrams(len(tokens)) if tokens[0] % 3 == 0 else lengths)
    most = max(map(len, rows))
    padded = [row + [0] * (most - len(row)) for row in rows]
    return torch.tensor(padded, dtype=torch.int32, device=src_tokens.device)


def trees_of_tokens(src_tokens: torch.Tensor, task) -> dict:
    """Binary trees, B×P×3, and their levels, of each sentence's own tokens alone.

    A sentence that begins with every third word has no parse.
    """
    pad, rows, sizes = task.source_dictionary.pad(), [], []
    for line in src_tokens.tolist():
        tokens = [token for token in line if token != pad]
        sizes.append(len(tokens))
        drawn = draw_trees(len(tokens) - 1, np.random.default_rng(tokens))
        rows.append(TREES.no_row(0) if tokens[0] % 3 == 0 else drawn)
    left_pad = bool(src_tokens[:, 0].eq(pad).any())
    text = BatchedText(np.arange(len(rows)), np.array(sizes), src_tokens.size(1), left_pad)
    found = BinarisedAnnotation(TREES, RaggedArray.from_rows(rows)).batched(text)
    return {**found, TREES.key: found[TREES.key].to(src_tokens.device)}


def chunks_of_tokens(target: torch.Tensor, task) -> torch.Tensor:
    """Chunk tags, B×T, that depend on each sentence's own tokens alone.

    A chunk opens before a word of even number; a sentence that begins with every third word has no
    annotation.
    """
    types = len(task.labels(CHUNKS))
    tags = torch.where(target % 2 == 0, target % types + 1, 0)
    tags[:, 0] = target[:, 0] % types + 1
    tags = tags.masked_fill(target.eq(task.target_dictionary.eos()), types + 1)
    none = target.eq(task.target_dictionary.pad()) | (target[:, :1] % 3 == 0)
    return tags.masked_fill(none, -1).int()


def save_checkpoint(path: Path, model, cfg) -> Path:
    """Writes what fairseq's trainer writes of a model and its options."""
    state = {
        "args": None,
        "cfg": OmegaConf.to_container(cfg, resolve=True, enum_to_str=True),
        "model": model.state_dict(),
        "extra_state": {"epoch": 1},
        "optimizer_history": [{"num_updates": 0, "best_loss": 0.0}],
        "last_optimizer_state": None,
        "task_state": {},
    }
    checkpoint_utils.torch_persistent_save(state, str(path))
    return path


def assert_same_gradients(model, found, expected):
    """A loss that is computed in two ways has the same gradient in every parameter."""
    named = dict(model.named_parameters())
    options = {"allow_unused": True, "materialize_grads": True}
    gradients = [torch.autograd.grad(x, [*named.values()], **options) for x in (found, expected)]
    for name, one, other in zip(named, *gradients):
        if name.endswith("embed_tokens.weight"):  # nothing trains the pad
            other[model.encoder.dictionary.pad()] = 0
        torch.testing.assert_close(one, other, atol=1e-9, rtol=1e-9, msg=name)
