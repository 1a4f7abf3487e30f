"""Linguistic features against loops over tokens, and what their options do."""

import pytest
import torch
from small_models import (
    annotated_batch,
    batch,
    build,
    enlarge,
    labels_of,
    random_sentences,
    write_dictionaries,
)

from syntax_nmt.backbone.extension import Source
from syntax_nmt.data.annotation.columns import DEPREL, UPOS
from syntax_nmt.errors import UserError
from syntax_nmt.methods.linguistic_features.tables import (
    BEGIN,
    END,
    EOS,
    INSIDE,
    NONE,
    OUTSIDE,
    SPECIAL,
    FeatureTables,
    places_in_words,
)

LENGTHS = (9, 4, 7, 2)
SUM = ("feature_transformer",)
SIZES = ("--feature-dims=3,2,2",)
CONCAT = ("feature_transformer", "--feature-merge=concat", *SIZES)
OVERWRITE = ("feature_transformer", "--feature-merge=overwrite", *SIZES)
MERGES = {"sum": SUM, "concat": CONCAT, "overwrite": OVERWRITE, "rnn": ("feature_rnn",)}


def word_of(dictionary, tokens, place):
    """The first and the last place of a token's word: ▁ opens one, a lone ▁ the next one, too."""
    symbols = [dictionary[token] for token in tokens]

    def opens(i):
        return i == 0 or (symbols[i].startswith("▁") and symbols[i - 1] != "▁")

    first, last = place, place + 1
    while not opens(first):
        first -= 1
    while last < len(symbols) and not opens(last):
        last += 1
    if symbols[-1] == "▁" and len(symbols) > 1:  # belongs to the word before it
        pytest.skip("a lone mark at the end")
    return first, last - 1


def ids(name, tokens, sample, row, column, dictionary):
    """The id of a token's feature; `column` counts pads, the tokens do not."""
    place = column - (sample["src_tokens"].size(1) - len(tokens))
    if int(tokens[place]) == dictionary.eos():
        return EOS
    if name == "subword":
        first, last = word_of(dictionary, tokens[:-1].tolist(), place)
        if first == last:
            return OUTSIDE
        return BEGIN if place == first else END if place == last else INSIDE
    label = int(sample[f"feature_{name}"][row, column])
    return NONE if label < 0 else label - 1 + SPECIAL


def merged(model, names, merge, sources, sample):
    """The vectors of real tokens by the equations: {(row, column): C}."""
    encoder, found = model.encoder, {}
    dictionary, tables = encoder.dictionary, encoder.feature_tables.tables
    for row, tokens in enumerate(sources):
        for place, token in enumerate(tokens):
            column = sample["src_tokens"].size(1) - len(tokens) + place
            word = encoder.embed_tokens.weight[token]
            vectors = [
                table.weight[ids(name, tokens, sample, row, column, dictionary)]
                for name, table in zip(names, tables)
            ]
            if merge == "sum":
                vector = word.clone()
                for each in vectors:
                    vector = vector + each
            elif merge == "overwrite":
                kept = len(word) - sum(map(len, vectors))
                vector = torch.cat([word[:kept], *vectors])
            else:
                vector = torch.cat([word, *vectors])
            found[row, column] = vector
    return found


@pytest.mark.parametrize("merge", MERGES)
def test_equals_the_equations(pieces_folder, merge):
    model, task, cfg = build(pieces_folder, *MERGES[merge])
    enlarge(model).double()
    sources = random_sentences(LENGTHS)
    inputs = annotated_batch(model, task, sources, random_sentences(LENGTHS, 4))["net_input"]
    names = cfg.model.source_features.split(",")
    tokens = inputs["src_tokens"]
    padding = tokens.eq(task.source_dictionary.pad())
    source = Source(tokens, padding, inputs, model.encoder.word_spans)
    (feature,) = model.encoder.extensions
    vectors = feature.embed(model.encoder.embed_tokens(source.tokens), source)
    way = "concat" if merge == "rnn" else merge
    expected = merged(model, names, way, sources, inputs)
    ours = theirs = torch.zeros((), dtype=torch.float64)
    for (row, column), vector in expected.items():
        torch.testing.assert_close(vectors[row, column], vector, atol=1e-12, rtol=0)
        ours = ours + vectors[row, column].sin().sum()
        theirs = theirs + vector.sin().sum()
    parameters = [p for p in (*model.encoder.embed_tokens.parameters(),
                              *model.encoder.feature_tables.parameters())]  # fmt: skip
    for found, wanted in zip(
        torch.autograd.grad(ours, parameters), torch.autograd.grad(theirs, parameters)
    ):
        torch.testing.assert_close(found, wanted, atol=1e-12, rtol=0)


def test_zero_tables_are_the_stock_model(pieces_folder):
    """Under the same weights."""
    model, task, _ = build(pieces_folder, *SUM)
    stock, _, _ = build(pieces_folder, "transformer", task="translation")
    weights = stock.state_dict()
    own = {
        name: torch.zeros_like(x) for name, x in model.state_dict().items() if name not in weights
    }
    assert own
    assert all("feature_tables" in name for name in own)
    model.load_state_dict({**weights, **own})
    sources, targets = random_sentences(LENGTHS), random_sentences(LENGTHS, 4)
    inputs = annotated_batch(model, task, sources, targets)["net_input"]
    plain = batch(task.source_dictionary, sources, targets)["net_input"]
    real = plain["prev_output_tokens"].ne(task.target_dictionary.pad())
    torch.testing.assert_close(model(**inputs)[0][real], stock(**plain)[0][real])


def test_parameters(pieces_folder):
    """Sum adds Σ V_k C; concat V_k m_k, and narrows the table of the words."""
    plain, task, _ = build(pieces_folder, "syntax_transformer", "--share-all-embeddings")
    apart, _, _ = build(pieces_folder, "syntax_transformer")
    rows, values = len(task.source_dictionary), len(labels_of(UPOS)) + SPECIAL

    def count(model):
        return sum(parameter.numel() for parameter in model.parameters())

    added = 2 * values * 16 + (SPECIAL + 4) * 16
    assert count(build(pieces_folder, *SUM, "--share-all-embeddings")[0]) == count(plain) + added
    added = values * (3 + 2) + (SPECIAL + 4) * 2 - rows * 7
    assert count(build(pieces_folder, *CONCAT)[0]) == count(apart) + added


def test_places_in_words():
    opens = torch.tensor([[1, 1, 0, 0, 1, 0, 1]], dtype=torch.bool)
    closes = torch.tensor([[1, 0, 0, 1, 0, 1, 1]], dtype=torch.bool)
    expected = [OUTSIDE, BEGIN, INSIDE, END, BEGIN, END, OUTSIDE]
    assert places_in_words(opens, closes).tolist() == [expected]


def test_dropout_leaves_values_out():
    torch.manual_seed(1)
    tables = FeatureTables((9,), (4,), 4, dropout=0.25)
    values = torch.full((40, 50), 5)
    dropped = tables.train()([values])[0].abs().sum(-1).eq(0)
    assert 0.22 < dropped.float().mean() < 0.28
    assert not tables.eval()([values])[0].abs().sum(-1).eq(0).any()


def test_a_share_of_values_trains_unknown(pieces_folder):
    """No value of the text is unknown, nor is the place in a word."""
    model, task, _ = build(pieces_folder, *SUM, "--feature-unknown=0.25")
    sources = random_sentences([40] * 60)
    inputs = annotated_batch(model, task, sources, random_sentences([3] * 60))["net_input"]
    for key in ("feature_upos", "feature_deprel"):
        inputs[key] = inputs[key].masked_fill(inputs[key].eq(1), 2)
    seen = []
    hook = model.encoder.feature_tables.register_forward_pre_hook(
        lambda _, args: seen.append(args[0])
    )
    torch.manual_seed(1)
    for training in (True, False):
        model.train(training)(**inputs)
    hook.remove()
    for key, *found in zip(("feature_upos", "feature_deprel"), *seen):
        known = inputs[key].gt(0)
        trained, translated = (each[known] == SPECIAL for each in found)
        assert 0.22 < trained.float().mean() < 0.28
        assert not translated.any()
        assert torch.equal(*(each[~known] for each in found))
    assert torch.equal(seen[0][2], seen[1][2])


def test_labels_are_kept(pieces_folder):
    _, _, cfg = build(pieces_folder, *SUM)
    assert cfg.model.feature_upos == " ".join(labels_of(UPOS))
    assert cfg.model.feature_deprel == " ".join(labels_of(DEPREL))
    assert not hasattr(cfg.model, "feature_lemma")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*SUM, "--source-features=pos"), "'pos' is no feature: give upos, xpos"),
        ((*SUM, "--source-features=upos,upos"), "upos twice"),
        ((*SUM, *SIZES), "--feature-dims needs --feature-merge concat or overwrite"),
        (CONCAT[:2], "--feature-dims is missing: give 3 widths with commas between"),
        ((*CONCAT, "--feature-dims=3,2"), "give 3 widths with commas between"),
        ((*CONCAT, "--feature-dims=9,6,1"), "together less than the 16 of the embeddings"),
        ((*CONCAT, "--share-all-embeddings"), "--share-all-embeddings cannot be combined with"),
        (("feature_rnn", "--share-all-embeddings"), "--share-all-embeddings cannot be combined"),
        ((*SUM, "--feature-dropout=1"), "give a share from 0 to less than 1"),
        ((*SUM, "--feature-unknown=1"), "give a share from 0 to less than 1"),
        (("syntax_rnn", "--feature-dropout=0.1"), "--feature-dropout needs --source-features"),
    ],
)
def test_contradicting_options(pieces_folder, arguments, message):
    arch, *more = arguments
    arch = {"syntax_rnn": "rnn_search"}.get(arch, arch)
    with pytest.raises(UserError, match=message):
        build(pieces_folder, arch, *more)


def test_data_without_the_column(tmp_path):
    folder = write_dictionaries(tmp_path)
    (folder / "dict.deprel.txt").unlink()
    with pytest.raises(UserError, match=r"deprel: the data folder has no dict.deprel.txt: make it"):
        build(folder, *SUM)
