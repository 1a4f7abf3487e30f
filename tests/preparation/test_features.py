"""Features of words from CoNLL-U to the batch, and what is refused on the way."""

import contextlib
import gzip
import io
import shutil

import pytest
import sentencepiece
import torch
from commands import refuse
from cut_corpus import CUTS, run_preprocess
from fairseq.data import Dictionary
from nonempty import some
from prepared_corpus import task_of
from small_models import build, save_checkpoint

from syntax_nmt.backbone.word_spans import WordSpans
from syntax_nmt.cli import main
from syntax_nmt.data.annotation.columns import COLUMNS, LEMMA, TARGET_COLUMNS, UPOS
from syntax_nmt.data.annotation.formats import CONLLU
from syntax_nmt.data.conllu import conllu_blocks, format_conllu
from syntax_nmt.data.ragged import RaggedArray
from syntax_nmt.errors import UserError
from syntax_nmt.inference.checkpoint import load_model
from syntax_nmt.methods.linguistic_features.tables import (
    BEGIN,
    END,
    INSIDE,
    OUTSIDE,
    places_in_words,
)
from syntax_nmt.parsing.stanza.models import StanzaModels
from syntax_nmt.preparation.binarizing import binarize
from syntax_nmt.preparation.empty_columns import refuse_empty_in, refuse_not_made

# Words ("@": cut here), their tags and relations; `X` and `dep` are rare. None = no parse.
TRAIN = [
    ("the ca@t sle@eps", "DET NOUN VERB", "det nsubj root"),
    ("the dog ba@r@ks", "DET NOUN VERB", "det nsubj root"),
    ("huh", "X", "root"),
    ("what now", None, None),
]
VALID = [("the man go@es", "DET PROPN VERB", "det nsubj root")]


def conllu(text, tags, relations):
    words = text.replace("@", "").split()
    if tags is None:
        return "# parse = none\n\n"
    columns = zip(words, tags.split(), relations.split())
    lines = [
        f"{place}\t{word}\t_\t{tag}\t_\t_\t{place - 1}\t{relation}\t_\t_\n"
        for place, (word, tag, relation) in enumerate(columns, start=1)
    ]
    return "".join(lines) + "\n"


def write(folder, split, sentences, scheme="subword-nmt"):
    """Both sides are the same text."""
    for name in ("tok", "bpe"):
        (folder / name).mkdir(exist_ok=True)
    texts = [text for text, *_ in sentences]
    for lang in ("de", "en"):
        (folder / f"tok/{split}.{lang}").write_text("".join(f"{CUTS['none'](t)}\n" for t in texts))
        (folder / f"bpe/{split}.{lang}").write_text("".join(f"{CUTS[scheme](t)}\n" for t in texts))
    blocks = [conllu(*sentence) for sentence in sentences]
    (folder / f"tok/{split}.de.conllu").write_text("".join(blocks))


@pytest.fixture
def corpus(tmp_path):
    write(tmp_path, "train", TRAIN)
    write(tmp_path, "valid", VALID)
    prefixes = {f"{split}pref": tmp_path / "bpe" / split for split in ("train", "valid")}
    run_preprocess(tmp_path, **prefixes)
    return tmp_path


def run(folder, features="upos,deprel", splits=("train", "valid"), **options):
    given = {f"{split}pref": str(folder / "bpe" / split) for split in splits}
    given.update(words=folder / "tok", report=lambda line: None, features=features)
    return binarize("de", "en", folder / "data-bin", **{**given, **options})


def rows_of(folder, column, split="train"):
    array = RaggedArray.open(folder / f"data-bin/{split}.de-en.de.{column}")
    return [array[index].tolist() for index in range(len(array))]


def loaded(folder, features="upos,deprel"):
    task = task_of(folder / "data-bin", "de", "en", load_features=features)
    task.load_dataset("train")
    return task


def test_ids_of_pieces(corpus):
    written = run(corpus)
    assert sorted(written)[:3] == [f"train.de-en.de.{name}" for name in ("deprel", "heads", "upos")]
    labels = (corpus / "data-bin/dict.upos.txt").read_text().split()
    assert labels == ["<unk>", "DET", "NOUN", "VERB", "_"]
    # What is rare in the training text is <unk> there, and so is trained; nothing drops out.
    assert rows_of(corpus, "upos") == [[2, 3, 3, 4, 4], [2, 3, 4, 4, 4], [1], [-1, -1]]
    assert rows_of(corpus, "upos", "valid") == [[2, 1, 4, 4]]
    assert rows_of(corpus, "deprel")[2] == [4]
    assert rows_of(corpus, "heads")[0] == [0, 0, 1, 1, 3]


@pytest.mark.parametrize("relations", ["_ _ _", "OTHER TAG SET"])
def test_a_split_whose_values_tell_nothing_is_reported(corpus, relations):
    """As of a parser without labels, or with others: a model would be validated without them."""
    write(corpus, "valid", [(VALID[0][0], VALID[0][1], relations), TRAIN[3]])
    shutil.rmtree(corpus / "data-bin")
    run_preprocess(corpus, **{f"{name}pref": corpus / "bpe" / name for name in ("train", "valid")})
    said = []
    run(corpus, report=said.append)
    (line,) = (line for line in said if "have a value that the training text has" in line)
    assert line.startswith("valid.de-en.de.deprel: only 0 of 4 subwords")
    assert "valid.de.conllu as the training text was" in line


def test_a_threshold_of_one_keeps_every_value(corpus):
    run(corpus, feature_threshold=1)
    assert "X" in (corpus / "data-bin/dict.upos.txt").read_text().split()


def test_values_of_parses_with_several_roots(corpus):
    file = corpus / "tok/train.de.conllu"
    file.write_text(file.read_text().replace("\t2\troot", "\t0\troot", 1))
    with pytest.raises(UserError, match="--attach-roots"):
        run(corpus)
    run(corpus, attach_roots=True)
    assert rows_of(corpus, "upos")[0] == [2, 3, 3, 4, 4]
    # The second root is a `parataxis` of the first, as rare as `dep`.
    assert rows_of(corpus, "deprel")[0][-1] == 1


def test_batches_have_every_column_that_is_loaded(corpus):
    run(corpus)
    dataset = loaded(corpus).dataset("train")
    batch = dataset.collater([dataset[index] for index in range(len(dataset))])
    by_sentence = dict(zip(batch["id"].tolist(), batch["feature_upos"].tolist()))
    assert by_sentence == {
        0: [2, 3, 3, 4, 4, -1], 1: [2, 3, 4, 4, 4, -1], 2: [-1, -1, -1, -1, 1, -1], 3: [-1] * 6,
    }  # fmt: skip
    assert batch["feature_deprel"].shape == batch["feature_upos"].shape
    assert "feature_lemma" not in batch


def test_checksums(corpus):
    run(corpus)
    loaded(corpus)
    labels = corpus / "data-bin/dict.upos.txt"
    labels.write_text(labels.read_text().replace("NOUN", "PRON"))
    with pytest.raises(
        UserError, match=r"dict\.upos\.txt: not the tag list train\.de-en\.de\.upos"
    ):
        loaded(corpus)


def test_a_test_set_added_later_has_the_ids_of_training(corpus):
    run(corpus, splits=("train",))
    before = (corpus / "data-bin/dict.upos.txt").read_bytes()
    run(corpus, splits=("valid",))
    assert (corpus / "data-bin/dict.upos.txt").read_bytes() == before
    assert rows_of(corpus, "upos", "valid") == [[2, 1, 4, 4]]


def test_skipped_sentences_have_no_values(corpus):
    file = corpus / "tok/train.de.conllu"
    file.write_text(file.read_text().replace("\thuh\t", "\tdifferent\t"))
    with pytest.raises(UserError, match="sentence 3"):
        run(corpus)
    run(corpus, on_mismatch="skip")
    assert rows_of(corpus, "upos")[2] == [-1]


def test_inspect_shows_them(corpus, capsys):
    run(corpus)
    main(["inspect", str(corpus / "data-bin"), "--samples", "4"])
    shown = capsys.readouterr().out
    assert "upos, in words" in shown
    assert "DET" in shown


@pytest.mark.parametrize(
    ("features", "options", "message"),
    [
        ("upos,feats", {}, "no word of the training text has a value in column FEATS: leave feats"),
        ("upos", {"feature_threshold": 9}, "--feature-threshold 9: every value of UPOS is rarer"),
        ("pos", {}, "--features pos: 'pos' is no column"),
        (
            "upos",
            {"splits": ("valid",)},
            "values are those of the training text, which has no .con",
        ),
    ],
)
def test_what_binarize_refuses(corpus, features, options, message):
    before = sorted(path.name for path in (corpus / "data-bin").iterdir())
    with pytest.raises(UserError, match=message):
        run(corpus, features, **options)
    assert sorted(path.name for path in (corpus / "data-bin").iterdir()) == before


def test_a_text_without_parses_has_no_features(corpus):
    for file in (corpus / "tok").glob("*.conllu"):
        file.rename(file.with_name(file.name.replace(".de.", ".en.")))
    with pytest.raises(UserError, match="--features upos: there are no dependency trees of de"):
        run(corpus, "upos")


def test_features_that_were_not_prepared(corpus):
    run(corpus, "deprel")
    with pytest.raises(UserError, match=r"syntax\.json has no train\.de-en\.de\.upos .it has"):
        loaded(corpus, "upos")
    with pytest.raises(UserError, match="--load-features pos: 'pos' is no column"):
        loaded(corpus, "pos")


def test_labels_of_another_folder(corpus, tmp_path):
    """A model keeps the values that it was built for, in order."""
    run(corpus, "upos")
    options = ("--source-features=upos", "--load-features=upos", "-s", "de", "-t", "en")
    data = corpus / "data-bin"
    built, task, cfg = build(data, "feature_transformer", *options)
    assert built.annotation_labels[UPOS] == ("<unk>", "DET", "NOUN", "VERB", "_")
    old = save_checkpoint(tmp_path / "old.pt", built, cfg)
    model, *_ = load_model(old, data, torch.device("cpu"))
    run(corpus, "upos", feature_threshold=1)
    task.load_dataset("train")
    dataset = task.dataset("train")
    sample = dataset.collater([dataset[0]])
    message = (
        rf"^{old}: its value 5 is _, that of the data folder's dict\.upos\.txt is X: give "
        r"the folder that it was trained on, or --parser-config in place of --load-features upos$"
    )
    with pytest.raises(UserError, match=message):
        task.inference_step(None, [model], sample)


def test_borrowed_trees_carry_labels_and_tags(corpus):
    """A value belongs to the analysis of a sentence: the other sentence's comes along."""
    write(corpus, "two", [*TRAIN[:1], ("he ran home", "PRON VERB ADV", "nsubj root advmod")])
    file, output = corpus / "tok/two.de.conllu", corpus / "borrowed"
    main(["control", "--kind", "borrowed", str(file), "--output", str(output)])
    given = file.read_text().split("\n\n")
    for block, other, own in some(zip(output.read_text().split("\n\n"), given[1::-1], given)):
        assert columns_of(block, 2, 8) == columns_of(other, 2, 8)
        assert columns_of(block, 1, 2) == columns_of(own, 1, 2)


def columns_of(block, start, end):
    return [line.split("\t")[start:end] for line in block.splitlines() if line[0] != "#"]


# The rules of Sennrich and Haddow's preparation: the place of a piece, by whether the piece before
# it and the piece itself are continued. All other features are those of the word, for each piece.
PLACES = {
    (False, False): OUTSIDE,
    (False, True): BEGIN,
    (True, True): INSIDE,
    (True, False): END,
}
SENTENCES = 200
OF_COLUMN = {"lemma": 2, "upos": 3, "xpos": 4, "feats": 5, "deprel": 7}


@pytest.fixture(scope="module")
def treebank(shared):
    """Words of sentences of EWT with their columns; no form has a space, nor is there a range."""
    found = []
    with gzip.open(shared / "data/ud/EWT/en_ewt-ud-dev.conllu.gz", "rt", encoding="utf-8") as file:
        for _, block in conllu_blocks(line.rstrip("\n") for line in file):
            rows = [line.split("\t") for line in block if line[0] != "#"]
            rows = [row for row in rows if row[0].isdecimal()]
            if len(rows) > 3 and not any(" " in value for row in rows for value in row):
                found.append(rows)
    return found[:SENTENCES]


def pieces_by(scheme, model):
    """A function from words to pieces, and one that tells whether a piece is continued."""

    def sentencepieces(words):
        return model.encode(" ".join(words), out_type=str)

    def marked(words):
        """As subword-nmt marks the same places."""
        cut = [[piece.lstrip("▁") for piece in model.encode(w, out_type=str)] for w in words]
        cut = [[piece for piece in pieces if piece] for pieces in cut]
        return [p + "@@" * (i + 1 < len(pieces)) for pieces in cut for i, p in enumerate(pieces)]

    return {"sentencepiece": sentencepieces, "subword-nmt": marked}[scheme]


def continued(scheme, pieces):
    """Whether each piece is continued by the next; a lone ▁ is, whatever comes."""
    if scheme == "subword-nmt":
        return [piece.endswith("@@") for piece in pieces]
    following = [*pieces[1:], "▁"]
    return [p == "▁" or not after.startswith("▁") for p, after in zip(pieces, following)]


@pytest.mark.parametrize("scheme", ["sentencepiece", "subword-nmt"])
def test_pieces_of_a_treebank_have_the_values_of_the_papers_rules(treebank, tmp_path, scheme):
    for name in ("tok", "bpe"):
        (tmp_path / name).mkdir()
    texts = [[row[1] for row in rows] for rows in treebank]
    (tmp_path / "text").write_text("".join(" ".join(words) + "\n" for words in texts), "utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(tmp_path / "text"), model_prefix=str(tmp_path / "model"), vocab_size=400,
        model_type="bpe", minloglevel=2, character_coverage=1.0,
        normalization_rule_name="identity",
    )  # fmt: skip
    model = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "model.model"))
    segmented = [pieces_by(scheme, model)(words) for words in texts]
    for lang in ("de", "en"):
        for folder, lines in (("tok", texts), ("bpe", segmented)):
            text = "".join(" ".join(line) + "\n" for line in lines)
            (tmp_path / folder / f"train.{lang}").write_text(text, "utf-8")
    blocks = ["".join("\t".join(row) + "\n" for row in rows) + "\n" for rows in treebank]
    (tmp_path / "tok/train.de.conllu").write_text("".join(blocks), "utf-8")
    with contextlib.redirect_stdout(io.StringIO()):
        run_preprocess(tmp_path, trainpref=tmp_path / "bpe/train")
    names = ",".join(column.name for column in COLUMNS)
    run(tmp_path, names, ("train",), feature_threshold=1)

    dictionary = Dictionary.load(str(tmp_path / "data-bin/dict.de.txt"))
    spans, cut = WordSpans(dictionary), 0
    labels, rows = {}, {}
    for column in COLUMNS:
        file = tmp_path / "data-bin" / column.labels_file
        labels[column.name] = ["", *file.read_text("utf-8").split()]
        rows[column.name] = rows_of(tmp_path, column.name)
    for number, (pieces, words) in enumerate(zip(segmented, treebank)):
        goes_on = continued(scheme, pieces)
        assert goes_on.count(False) == len(words)
        word_of = [goes_on[:place].count(False) for place in range(len(pieces))]
        for name, index in OF_COLUMN.items():
            found = [labels[name][i] for i in rows[name][number]]
            assert found == [words[word][index] for word in word_of]
        tokens = dictionary.encode_line(" ".join(pieces), add_if_not_exist=False).long()[None]
        columns = torch.arange(tokens.size(1))
        of_words = spans(tokens)
        places = places_in_words(of_words.first.eq(columns), of_words.last.eq(columns))[0]
        pairs = zip([False, *goes_on], goes_on)
        assert places[:-1].tolist() == [PLACES[pair] for pair in pairs]
        cut += sum(goes_on)
    assert cut > 10 * SENTENCES


# Columns without values are refused before anything is made.


@pytest.fixture
def without_lemmas(tmp_path):
    """With parts of speech, and without lemmas."""
    (tmp_path / "train.en").write_text("a cat\n" * 3)
    (tmp_path / "train.de").write_text("eine Katze\n" * 3)
    block = format_conllu(["a", "cat"], [1, 1], relations=["det", "root"], upos=["DET", "NOUN"])
    (tmp_path / "train.en.conllu").write_text(block * 3)
    return tmp_path


def test_a_file_without_lemmas(without_lemmas):
    said = refuse(
        *("syntax_nmt.cli", "prepare", "--source-lang", "en", "--target-lang", "de"),
        *("--trainpref", without_lemmas / "train", "--destdir", without_lemmas / "out"),
        *("--features", "upos,lemma"),
    )
    assert (
        f"{without_lemmas}/train.en.conllu: no word has a value in column LEMMA: leave lemma out"
        in said
    )
    assert not (without_lemmas / "out").exists()


def test_only_columns_of_conllu_are_looked_for(tmp_path):
    """Chunks that were made here have a tag for every word."""
    (tmp_path / "train.de.chunks").write_text("B-NP I-NP\n")
    chunks = [column for column in TARGET_COLUMNS if column.format != CONLLU]
    assert refuse_empty_in(tmp_path / "train.de.chunks", some(chunks)) is None
    assert refuse_empty_in(tmp_path / "train.de.chunks", ()) is None


def test_models_without_a_lemmatiser(tmp_path):
    files = (("pos_model_path", tmp_path / "tagger.pt"), ("depparse_model_path", tmp_path / "p.pt"))
    alone = StanzaModels("dependencies", "en", None, files)
    refuse_not_made(alone, [UPOS])
    message = (
        r"--features lemma: there is no lemmatiser beside .*tagger\.pt and .*: leave lemma out"
    )
    with pytest.raises(UserError, match=message):
        refuse_not_made(alone, [UPOS, LEMMA])
    (tmp_path / "en" / "lemma").mkdir(parents=True)
    (tmp_path / "en" / "lemma" / "combined.pt").touch()
    refuse_not_made(StanzaModels("dependencies", "en", tmp_path, ()), [LEMMA])


def test_chunk_tags_of_the_target_are_a_column_beside_the_others(corpus):
    """IOB2, the tag of a word at all of its pieces; an empty line has none."""
    (corpus / "tok/train.en.chunks").write_text("B-NP I-NP B-VP\nO B-NP B-VP\nO\n\n")
    (corpus / "tok/valid.en.chunks").write_text("O B-PP O\n")
    written = run(corpus, None, target_features="chunk")
    assert {name.partition(".en.")[2] for name in written} - {""} == {"chunks", "target_chunk"}
    labels = (corpus / "data-bin/dict.target_chunk.txt").read_text().split()
    assert labels == ["<unk>", "B-NP", "B-VP", "O", "_"]  # I-NP stands there once
    rows = [
        [*map(RaggedArray.open(corpus / f"data-bin/{split}.de-en.en.target_chunk").__getitem__, n)]
        for split, n in (("train", range(4)), ("valid", range(1)))
    ]
    assert [[row.tolist() for row in of_split] for of_split in rows] == [
        [[2, 1, 1, 3, 3], [4, 2, 3, 3, 3], [4], [-1, -1]],
        [[4, 1, 4, 4]],
    ]
    for file in (corpus / "tok").glob("*.chunks"):
        file.unlink()
    with pytest.raises(UserError, match="--target-features chunk: there are no chunks of en, whic"):
        run(corpus, None, target_features="chunk")
