import pickle
import random
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from fairseq.data import Dictionary, LanguagePairDataset
from nonempty import some
from phrase_loops import ngrams
from torch.utils.data import DataLoader

from syntax_nmt.data.annotation import CHUNKS, HEADS, KINDS, PHRASES
from syntax_nmt.data.binarised_annotation import BinarisedAnnotation
from syntax_nmt.data.ragged import RaggedArray
from syntax_nmt.data.syntax_dataset import SyntaxDataset
from syntax_nmt.errors import UserError

TAGS = ("NP", "O", "VP")
PADDINGS = [(left, right) for left in (True, False) for right in (True, False)]


def in_memory(kind, rows, labels=()):
    """Annotation that is in no file."""
    return BinarisedAnnotation(kind, RaggedArray.from_rows(rows), labels)


def make(count=40, seed=1, annotated=0.7, left_pad_source=True, left_pad_target=False, target=True):
    """Random sentences (some without words) and annotation; returns its rows as lists, too."""
    rng = random.Random(seed)
    dictionary = Dictionary()
    for number in range(50):
        dictionary.add_symbol(f"w{number}")

    def sentences():
        sizes = [rng.choice([0, 1, 2, 5, 9, 17]) for _ in range(count)]
        return [torch.tensor([rng.randrange(4, 50) for _ in range(s)] + [2]) for s in sizes]

    def cut(size):
        lengths = []
        while sum(lengths) < size:
            lengths.append(rng.randint(1, size - sum(lengths)))
        return lengths

    source, goal = sentences(), sentences()
    draws = {
        HEADS: lambda n: [rng.randrange(n) for _ in range(n)],
        PHRASES: cut,
        CHUNKS: lambda n: [rng.randrange(len(TAGS) + 1) for _ in range(n)],
    }
    rows, annotations = {}, []
    for kind, draw in draws.items():
        sizes = [len(tokens) - 1 for tokens in (goal if kind is CHUNKS else source)]
        found = [draw(n) if rng.random() < annotated else None for n in sizes]
        given = [[-1] * (1 if kind is PHRASES else n) for n in sizes]
        given = [none if row is None else row for row, none in zip(found, given)]
        annotations.append(in_memory(kind, given, TAGS if kind.labels_file else ()))
        rows[kind.name] = found
    sides = [(text, [len(tokens) for tokens in text], dictionary) for text in (source, goal)]
    padding = {"left_pad_source": left_pad_source, "left_pad_target": left_pad_target}
    pairs = LanguagePairDataset(*sides[0], *(sides[1] if target else ()), **padding)
    return SimpleNamespace(pairs=pairs, rows=rows, dataset=SyntaxDataset(pairs, annotations))


def expected_heads(row, size, width, left_pad):
    """Oracle: one sentence at a time."""
    shift = width - size - 1 if left_pad else 0
    line = [-1] * width
    for position, head in enumerate(row or []):
        line[shift + position] = shift + head
    return line


def expected_tags(row, size, width, left_pad):
    shift = width - size - 1 if left_pad else 0
    line = [-1] * width
    if row:
        line[shift : shift + size + 1] = [*row, len(TAGS) + 1]
    return line


def expected_phrases(row, size):
    return [*row, 1] if row else ngrams(size + 1)


@pytest.mark.parametrize(("left_source", "left_target"), PADDINGS)
@pytest.mark.parametrize("annotated", [0.0, 0.5, 1.0])
def test_batches_against_one_sentence_at_a_time(left_source, left_target, annotated):
    made = make(200, 3, annotated, left_source, left_target)
    dataset, rng = made.dataset, random.Random(5)
    for _ in range(40):
        indices = rng.sample(range(len(dataset)), rng.randint(1, 12))
        batch = dataset.collater([dataset[index] for index in indices])
        source, target = batch["net_input"]["src_tokens"], batch["target"]
        assert batch["heads"].dtype == torch.int32
        assert batch["phrase_lengths"].dtype == torch.int32
        assert batch["chunk_tags"].dtype == torch.int32
        without = [not made.rows["chunks"][sentence] for sentence in batch["id"].tolist()]
        assert batch["all_annotated"] is not any(without)
        for place, sentence in enumerate(batch["id"].tolist()):
            size = int(made.pairs.src_sizes[sentence]) - 1
            heads = expected_heads(made.rows["heads"][sentence], size, source.size(1), left_source)
            assert batch["heads"][place].tolist() == heads
            lengths, cut = batch["phrase_lengths"][place], made.rows["phrases"][sentence]
            assert lengths.sum() == size + 1
            assert lengths[lengths > 0].tolist() == expected_phrases(cut, size)
            assert not lengths[(lengths > 0).sum() :].any()
            size = int(made.pairs.tgt_sizes[sentence]) - 1
            tags = expected_tags(made.rows["chunks"][sentence], size, target.size(1), left_target)
            assert batch["chunk_tags"][place].tolist() == tags
        assert batch["phrase_lengths"][:, -1].any()  # no wider than need be


def test_the_batch_is_the_stock_batch_with_more_in_it():
    made = make()
    samples = [made.pairs[index] for index in (5, 0, 9)]
    stock, batch = made.pairs.collater(samples), made.dataset.collater(samples)
    assert set(batch) - set(stock) == {"heads", "phrase_lengths", "chunk_tags", "all_annotated"}
    assert set(batch["net_input"]) == set(stock["net_input"])
    assert torch.equal(batch["net_input"]["src_tokens"], stock["net_input"]["src_tokens"])
    assert torch.equal(batch["target"], stock["target"])
    plain = SyntaxDataset(made.pairs).collater(samples)
    assert set(plain) == set(stock)


def test_no_samples_and_no_target():
    dataset = make(target=False).dataset
    assert dataset.collater([]) == {}
    batch = dataset.collater([dataset[3], dataset[7]])
    assert "heads" in batch
    assert "chunk_tags" not in batch
    assert dataset.tgt is None


def test_nothing_but_sentences_without_words():
    dictionary = Dictionary()
    empty = [torch.tensor([2])] * 3
    pairs = LanguagePairDataset(empty, [1] * 3, dictionary, empty, [1] * 3, dictionary)
    annotations = [in_memory(kind, [[]] * 3, TAGS) for kind in KINDS]
    batch = SyntaxDataset(pairs, annotations).collater([pairs[index] for index in range(3)])
    assert batch["heads"].tolist() == [[-1]] * 3
    assert batch["phrase_lengths"].tolist() == [[1]] * 3
    assert batch["chunk_tags"].tolist() == [[-1]] * 3


def test_what_fairseq_reads_off_the_dataset():
    made = make()
    dataset = made.dataset
    indices = np.arange(len(dataset))
    assert len(dataset) == len(made.pairs)
    assert np.array_equal(dataset.sizes, made.pairs.sizes)
    assert np.array_equal(dataset.num_tokens_vec(indices), made.pairs.num_tokens_vec(indices))
    assert dataset.size(3) == made.pairs.size(3)
    assert dataset.num_tokens(3) == made.pairs.num_tokens(3)
    assert sorted(dataset.ordered_indices()) == list(indices)
    kept, ignored = dataset.filter_indices_by_size(indices, (6, 6))
    assert len(kept) + len(ignored) == len(dataset)
    assert 0 < len(ignored) < len(dataset)
    batches = dataset.batch_by_size(kept, max_tokens=30)
    assert sorted(index for batch in batches for index in batch) == sorted(kept)
    for name in ("src", "tgt", "src_dict", "tgt_dict", "src_sizes", "tgt_sizes"):
        assert getattr(dataset, name) is getattr(made.pairs, name)
    assert dataset.get_batch_shapes() is None
    assert not dataset.supports_prefetch
    assert dataset.supports_fetch_outside_dataloader


def test_torch_loads_it_in_worker_processes():
    dataset = make().dataset
    batches = [[0, 3], [1, 2, 7]]
    here = [dataset.collater([dataset[index] for index in batch]) for batch in batches]
    loader = DataLoader(dataset, batch_sampler=batches, collate_fn=dataset.collater, num_workers=1)
    for batch, expected in some(zip(loader, here)):
        for key in ("id", "heads", "phrase_lengths", "chunk_tags"):
            assert torch.equal(batch[key], expected[key])


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_another_number_of_sentences_is_refused(kind):
    annotation = in_memory(kind, [[0]] * 7)
    with pytest.raises(UserError, match=f"{kind.name}: 7 sentences, the text has 40"):
        SyntaxDataset(make().pairs, [annotation])


def test_joined_splits_come_in_fairseqs_order():
    """`train` twice (upsampled) and `train1`, as fairseq's ConcatDataset orders them."""
    first = in_memory(HEADS, [[0], [1, 1]])
    second = in_memory(HEADS, [[-1, -1], [], [0, 0, 0]])
    joined = BinarisedAnnotation.concatenate([first, second], [2, 1])
    rows = [joined.rows[index].tolist() for index in range(len(joined))]
    assert rows == [[0], [1, 1], [0], [1, 1], [-1, -1], [], [0, 0, 0]]
    assert (joined.rows.bounds(np.arange(7))[:, 1] >= 0).tolist() == [True] * 4 + [False] * 2 + [
        True
    ]
    again = pickle.loads(pickle.dumps(joined))
    assert [again.rows[index].tolist() for index in range(len(again))] == rows
