"""Models get the annotation that they declare, and no other."""

import logging
from types import SimpleNamespace

import pytest
import torch

from syntax_nmt.data.annotation import CHUNKS, HEADS, PHRASES, TARGET_TREES, TREES
from syntax_nmt.data.annotation.columns import DEPREL, UPOS
from syntax_nmt.errors import UserError
from syntax_nmt.task.annotation_inputs import AnnotationInputs

PARSED, LOADED = torch.tensor([[2, 0]]), torch.tensor([[1, 1]])
HEAD, TAGS = torch.tensor([[0, -1]]), torch.tensor([[1, 2]])


def parse(kinds, tokens, typed, labels):
    """Stands in for a parser."""
    return {kind.key: PARSED for kind in kinds}


FOREIGN = SimpleNamespace()


def reading(*kinds, **more):
    return SimpleNamespace(reads_annotation=kinds, **more)


def learning(*kinds):
    return reading(learns_annotation=kinds)


def inputs_of(loaded=(), parser=None, labels=None):
    return AnnotationInputs(loaded, labels or {}, parser)


def sample(**annotation):
    return {"net_input": {"src_tokens": torch.tensor([[5, 2]])}, **annotation}


def handed_over(given):
    return {key: value for key, value in given["net_input"].items() if key != "src_tokens"}


ALL = {"heads": HEAD, "phrase_lengths": LOADED, "chunk_tags": TAGS}


@pytest.mark.parametrize(
    ("models", "forward", "search"),
    [
        ([FOREIGN], set(), set()),
        ([reading()], set(), set()),
        ([reading(HEADS)], {"heads"}, {"heads"}),
        ([reading(PHRASES), reading()], {"phrase_lengths"}, {"phrase_lengths"}),
        ([reading(CHUNKS)], {"chunk_tags"}, set()),  # a search does not know the target
        ([reading(CHUNKS), reading(HEADS)], {"chunk_tags", "heads"}, {"heads"}),
    ],
)
def test_what_is_declared_is_handed_over(models, forward, search):
    inputs, given = inputs_of(), sample(**ALL)
    trained = inputs.for_forward(models, given)
    assert set(handed_over(trained)) == forward
    assert set(handed_over(inputs.for_inference(models, given, None, scores=True))) == forward
    # Translated after training's step, as with --eval-bleu.
    assert set(handed_over(inputs.for_inference(models, trained, None, scores=False))) == search
    assert all(trained["net_input"][key] is ALL[key] for key in forward)
    assert all(trained[key] is ALL[key] for key in ALL)  # where losses read it
    assert set(given["net_input"]) == {"src_tokens"}  # the caller's batch stays as it was


def test_annotation_files_go_before_the_parser():
    inputs, model = inputs_of([PHRASES], parse), [reading(PHRASES), reading()]
    taken = inputs.for_inference(model, sample(phrase_lengths=LOADED), None, scores=False)
    assert taken["net_input"]["phrase_lengths"] is LOADED
    taken = inputs.for_inference(model, sample(), None, scores=False)
    assert taken["net_input"]["phrase_lengths"] is PARSED
    assert handed_over(inputs.for_inference([reading()], sample(), None, scores=False)) == {}


def test_nothing_is_parsed_in_training():
    with pytest.raises(UserError, match=r"reads phrases .*: add --load-phrases to read them"):
        inputs_of((), parse).for_forward([reading(PHRASES)], sample())


def test_all_that_is_missing_is_named_at_once():
    """Before a model meets it, at whose depth fairseq would print a traceback."""
    models = [reading(HEADS, UPOS, DEPREL, CHUNKS), reading(HEADS)]
    message = (
        "the model reads parts of speech of the source's words and dependency relations of the "
        "source's words, but the batch has none: add --load-features upos,deprel to read"
    )
    for scores in (True, False):
        with pytest.raises(UserError, match=message):
            inputs_of().for_inference(models, sample(heads=HEAD), None, scores)
    with pytest.raises(UserError, match=message):
        inputs_of().for_forward(models, sample(heads=HEAD))
    everything = "add --load-dependencies --load-chunks --load-features upos,deprel to read them"
    with pytest.raises(UserError, match=everything):  # training knows the target, too
        inputs_of().check_loaded(models[0])
    with pytest.raises(UserError, match=r"reads chunks .*: add --load-chunks .*-generate\)$"):
        inputs_of([HEADS, UPOS, DEPREL]).check_loaded(models[0])  # no parser gives chunks
    with pytest.raises(UserError, match=r"parts of speech .* add --load-features upos,deprel to"):
        inputs_of([HEADS, DEPREL, CHUNKS]).check_loaded(models[0])


def test_a_criterion_needs_what_the_model_learns():
    """And not all that its loss could read."""
    inputs = inputs_of([UPOS])
    inputs.trained_by("ours", SimpleNamespace(objectives=[reading(TREES, TARGET_TREES, CHUNKS)]))
    model = reading(learns_annotation=(TARGET_TREES, CHUNKS))
    with pytest.raises(UserError, match=r"add --load-target-trees --load-chunks .*`syntax-nmt bin"):
        inputs.check_loaded(model)
    inputs.check_loaded(reading())


def test_a_criterion_without_a_loss_of_what_is_loaded_for_it():
    """Supervised heads without supervision would train another model than was meant."""
    model = reading(learns_annotation=(HEADS,))
    inputs = inputs_of([HEADS])
    inputs.trained_by("label_smoothed_cross_entropy", SimpleNamespace())
    message = (
        "^--criterion label_smoothed_cross_entropy has no loss of the dependency trees of the "
        "source that --load-dependencies loads: give .*--criterion dependency_cross_entropy, or "
        r".* \(weights of 0 switch it off\); or leave --load-dependencies out$"
    )
    with pytest.raises(UserError, match=message):
        inputs.check_loaded(model)
    inputs_of().check_loaded(model)  # nothing is loaded: a warning
    inputs.check_loaded(reading(HEADS, learns_annotation=(HEADS,)))  # and another part reads it
    inputs.trained_by("ours", SimpleNamespace(objectives=[reading(HEADS)]))
    inputs.check_loaded(model)


def test_one_model_reads_and_another_takes_none():
    models = [FOREIGN, reading(PHRASES)]
    with pytest.raises(UserError, match="an ensemble"):
        inputs_of([PHRASES]).for_forward(models, sample(phrase_lengths=LOADED))


def test_labels_are_those_of_the_model():
    models = [reading(CHUNKS, annotation_labels={CHUNKS: ("NP", "VP")})]
    fitting = inputs_of([CHUNKS], labels={CHUNKS: ("NP", "VP")})
    assert handed_over(fitting.for_forward(models, sample(**ALL))) == {"chunk_tags": TAGS}
    other = inputs_of([CHUNKS], labels={CHUNKS: ("VP", "NP")})
    with pytest.raises(UserError, match=r"is NP, .*dict\.chunks\.txt is VP: .*--load-chunks"):
        other.for_forward(models, sample(**ALL))


@pytest.mark.parametrize(
    ("loaded", "parser", "model", "objectives", "named"),
    [
        ([HEADS], None, reading(), [], ["--load-dependencies"]),
        ([HEADS], None, reading(HEADS), [], []),
        ([HEADS], None, learning(HEADS), [reading(HEADS)], []),
        ([HEADS], None, learning(HEADS), [], ["--load-dependencies"]),
        ([PHRASES], None, learning(HEADS), [reading(HEADS)], ["--load-phrases"]),
        # A loss of what other models learn.
        ([TREES], None, learning(TARGET_TREES), [reading(TREES, TARGET_TREES)], ["--load-trees"]),
        ([], parse, reading(), [], ["--parser-config"]),
        ([PHRASES, CHUNKS], parse, reading(CHUNKS), [], ["--load-phrases", "--parser-config"]),
        ([PHRASES], parse, reading(PHRASES), [], []),
        ([], parse, reading(HEADS), [], []),
    ],
)
def test_options_without_effect_are_warned_of_once(
    loaded, parser, model, objectives, named, caplog
):
    inputs = inputs_of(loaded, parser)
    inputs.trained_by("any", SimpleNamespace(objectives=objectives))
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            inputs.for_forward([model], sample(**ALL))
    assert [record.message.partition(":")[0] for record in caplog.records] == named


def test_options_of_a_checkpoint_are_not_asked_for(caplog):
    """`from_pretrained` sets up the task of the training."""
    inputs = inputs_of([PHRASES], parse)
    inputs.expect_nothing()
    with caplog.at_level(logging.WARNING):
        inputs.for_forward([reading()], sample(**ALL))
    assert not caplog.records


@pytest.mark.parametrize("given", [{}, ALL])
@pytest.mark.parametrize("kind", [HEADS, PHRASES])
def test_ensembles_with_a_model_that_takes_no_annotation_are_refused_at_once(kind, given):
    """Not first told to load it; a model that only reads tags of the target translates."""
    with pytest.raises(UserError, match="an ensemble of a model that reads annotation and"):
        inputs_of().for_inference([FOREIGN, reading(kind)], sample(**given), None, scores=False)
    inputs_of().for_inference([FOREIGN, reading(CHUNKS)], sample(**given), None, scores=False)


def test_the_checkpoint_with_other_labels_is_named():
    """Of hundreds of labels the first that differs is shown; models need not read chunks."""
    labels = [f"T{number}" for number in range(300)]
    model = reading(CHUNKS, annotation_labels={CHUNKS: (*labels, "X")})
    model.checkpoint = "old.pt"
    other = inputs_of([CHUNKS], labels={CHUNKS: tuple(labels)})
    with pytest.raises(UserError) as refused:
        other.check_labels(model)
    assert str(refused.value) == (
        "old.pt: its chunk type 301 is X, that of the data folder's "
        f"{CHUNKS.labels_file} is missing: give the folder that it was trained on, or leave "
        "--load-chunks out"
    )


def test_one_call_of_the_parser_for_all_kinds_with_the_labels_of_the_models():
    calls = []

    def parse(*arguments):
        calls.append(arguments)
        return {kind.key: PARSED for kind in arguments[0]}

    tags = ("<unk>", "NOUN")
    models = [reading(HEADS, UPOS, annotation_labels={UPOS: tags}), reading(PHRASES, UPOS)]
    given = sample(phrase_lengths=LOADED)
    found = inputs_of((), parse).for_inference(models, given, None, scores=False)
    assert handed_over(found) == {"heads": PARSED, "feature_upos": PARSED, "phrase_lengths": LOADED}
    ((kinds, tokens, typed, labels),) = calls
    assert (kinds, typed, labels) == ([HEADS, UPOS], None, {UPOS: tags})
    assert tokens is given["net_input"]["src_tokens"]


def test_ensembles_of_models_with_other_values():
    models = [reading(UPOS, annotation_labels={UPOS: ("<unk>", *names)}) for names in ("AB", "BA")]
    message = "the models of the ensemble know different values of the parts of speech of the sour"
    with pytest.raises(UserError, match=message):
        inputs_of((), parse).for_inference(models, sample(), None, scores=False)
