"""The bi-scale decoder against its equations, in training and in search."""

from argparse import Namespace

import pytest
import torch
from bi_scale_loops import translate
from fairseq.models import ARCH_MODEL_REGISTRY
from omegaconf import OmegaConf
from small_models import assert_trains, batch, build, enlarge, random_sentences, write_dictionaries

from syntax_nmt.errors import UserError
from syntax_nmt.models.syntax_rnn import SyntaxRNNModel

TAGS = ("NP", "VP", "O")
EOS_TAG = len(TAGS) + 1
LENGTHS = [4, 6, 3, 5]
# What the annotation may say: word by word, and nothing at all for the third sentence.
CHUNK_TAGS = [[1, 0, 2, 4], [3, 1, 0, 0, 2, 4], [-1, -1, -1], [2, 0, 0, 1, 4]]
BOUNDARY = "--chunk-context=boundary"
ROWS = {
    "paper": [BOUNDARY],
    "step": [],
    "word": ["--chunk-attention=word", BOUNDARY],
    "word-step": ["--chunk-attention=word"],
    "two-layers": ["--decoder-layers=2", "--readout=maxout", BOUNDARY],
    "relation": ["--relation-kernels=1:6,3:8", "--relation-hidden-dim=10", "--readout=linear"],
    "own-widths": [
        *("--encoder-embed-dim=10", "--encoder-hidden-size=7", "--decoder-embed-dim=9"),
        *("--decoder-hidden-size=11", "--attention-dim=5", "--decoder-out-embed-dim=13"),
        *("--chunk-attention=word", BOUNDARY),
    ],
    "state": ["--chunk-readout=state", BOUNDARY],
    "both": [
        *("--chunk-readout=both", "--chunk-attention=word", "--decoder-hidden-size=11"),
        BOUNDARY,
    ],
    "shared": ["--share-all-embeddings"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = write_dictionaries(tmp_path_factory.mktemp("dictionaries"))
    (folder / "dict.chunks.txt").write_text("\n".join(TAGS) + "\n", encoding="utf-8")
    return folder


def model_of(folder, row, *more):
    model, task, _ = build(folder, "bi_scale_rnn_tiny", *ROWS[row], *more)
    enlarge(model)
    with torch.no_grad():  # a gate that chooses both
        gate = model.decoder.recurrence.gate
        gate.state.weight.mul_(4)
        gate.word.weight.mul_(4)
        gate.output.bias.zero_()
    return model, task


def sample_for(task, lengths=LENGTHS, **options):
    sources, targets = random_sentences([6, 3, 8, 1]), random_sentences(lengths, 4)
    return batch(task.source_dictionary, sources, targets, **options)


def padded(rows, width):
    return torch.tensor([row + [-1] * (width - len(row)) for row in rows], dtype=torch.int32)


def loops(model, inputs, number, tags, row):
    """The equations over one sentence of a batch."""
    pad = model.encoder.dictionary.pad()
    source, target = inputs["src_tokens"][number], inputs["prev_output_tokens"][number]
    target = target[target.ne(pad)]
    given = [tag if tag < 0 else int(tag > 0) for tag in tags[: len(target)]]
    return translate(model, source[source.ne(pad)], target, given, BOUNDARY not in ROWS[row])


@pytest.mark.parametrize("given", [True, False], ids=["annotated", "own-choice"])
@pytest.mark.parametrize("row", ROWS)
@torch.no_grad()
def test_equals_the_equations(folder, row, given):
    model, task = model_of(folder, row)
    model.double()
    inputs = sample_for(task)["net_input"]
    tags = CHUNK_TAGS if given else [[-1] * 6] * 4
    logits, extra = model(**inputs, chunk_tags=padded(tags, 6) if given else None)
    real = inputs["src_tokens"].ne(task.source_dictionary.pad())
    opened = extra["opened"][0]
    choices = set()
    for number, length in enumerate(LENGTHS):
        expected = loops(model, inputs, number, tags[number], row)

        def close(found, wanted):
            torch.testing.assert_close(found, wanted, atol=1e-10, rtol=0)

        close(logits[number, :length], expected.logits)
        assert opened[number, :length].tolist() == expected.opened
        close(extra["boundary_logits"][0][number, :length].log_softmax(-1), expected.gate)
        for key in ("attn", "chunk_attn"):
            weights = extra[key][0][number, :length]
            close(weights[:, real[number]], getattr(expected, key))
            assert not weights[:, ~real[number]].any()
        for t, log_probabilities in expected.tags.items():
            found = extra["tag_logits"][0][number, t]
            close(found.log_softmax(-1), log_probabilities)
        choices |= set(expected.opened[1:])
    assert given or choices == {True, False}  # otherwise the gate has not been tested


@pytest.mark.parametrize("row", ["paper", "step", "word", "two-layers", "state", "both"])
def test_gradients_equal_the_equations(folder, row):
    model, task = model_of(folder, row)
    model.double()
    inputs = sample_for(task)["net_input"]
    results = []
    for by_loops in (False, True):
        model.zero_grad()
        total = torch.zeros((), dtype=torch.float64)
        if not by_loops:
            logits, extra = model(**inputs, chunk_tags=padded(CHUNK_TAGS, 6))
            gate = extra["boundary_logits"][0].log_softmax(-1)
            tags = extra["tag_logits"][0].log_softmax(-1)
        for number, length in enumerate(LENGTHS):
            if by_loops:
                found = loops(model, inputs, number, CHUNK_TAGS[number], row)
                parts = [found.logits, found.gate, found.attn, *found.tags.values()]
            else:
                parts = [logits[number, :length], gate[number, :length]]
                parts += [extra["attn"][0][number, :length]]
                parts += [tags[number, :length][extra["opened"][0][number, :length]]]
            total = total + sum(part.pow(2).sum() for part in parts)
        total.backward()
        results.append({name: p.grad.clone() for name, p in model.named_parameters()})
    pad = task.source_dictionary.pad()
    for name, gradient in results[0].items():
        expected = results[1][name]
        if name.endswith("embed_tokens.weight"):  # nothing trains the pad
            expected[pad] = 0
        torch.testing.assert_close(gradient, expected, atol=1e-9, rtol=1e-9, msg=name)
        assert gradient.any(), name


@torch.no_grad()
def test_word_attention_without_chunk_weights_is_rnnsearch(folder):
    """Whatever the boundaries are, word for word with the same parameters."""
    model, task = model_of(folder, "word")
    plain, _, _ = build(folder, "rnn_search_cgru_tiny", "--readout=tanh")
    states = model.state_dict()
    plain.load_state_dict({name: states[name] for name in plain.state_dict()}, strict=True)
    inputs = sample_for(task)["net_input"]
    expected = plain(**inputs)[0]
    assert (model(**inputs)[0] - expected).abs().max() > 1e-3
    model.decoder.recurrence.chunk_projection.weight.zero_()
    for tags in (None, padded(CHUNK_TAGS, 6), torch.ones(4, 6), torch.zeros(4, 6)):
        torch.testing.assert_close(model(**inputs, chunk_tags=tags)[0], expected)


@torch.no_grad()
def test_the_annotation_matters(folder):
    for row in ROWS:
        model, task = model_of(folder, row)
        inputs = sample_for(task)["net_input"]
        all_open, none = (
            model(**inputs, chunk_tags=torch.full((4, 6), value))[0] for value in (1, 0)
        )
        torch.testing.assert_close(all_open[:, 0], none[:, 0])  # b_1 = 1 in any case
        assert (all_open[:, 1:] - none[:, 1:]).abs().max() > 1e-3, row


@torch.no_grad()
def test_words_of_a_chunk_share_its_context(folder):
    model, task = model_of(folder, "paper")
    tags = padded(CHUNK_TAGS, 6)
    weights = model(**sample_for(task)["net_input"], chunk_tags=tags)[1]["attn"][0]
    for number, length in ((0, 4), (1, 6)):
        for t in range(1, length):
            same = torch.equal(weights[number, t], weights[number, t - 1])
            assert same == (CHUNK_TAGS[number][t] == 0)
    model, task = model_of(folder, "step")
    weights = model(**sample_for(task)["net_input"], chunk_tags=tags)[1]["attn"][0]
    assert not torch.equal(weights[1, 2], weights[1, 1])


@pytest.mark.parametrize("row", ROWS)
@torch.no_grad()
def test_steps_equal_teacher_forcing_under_the_same_boundaries(folder, row):
    """A search over given words makes its own choices; forced to these, scores are the same."""
    model, task = model_of(folder, row)
    sample = sample_for(task, lengths=[6, 6, 6, 6])
    inputs = sample["net_input"]
    source = {k: v for k, v in inputs.items() if k != "prev_output_tokens"}
    encoder_out = model.encoder(**source)
    state, logits, opened, joint = {}, [], [], []
    for step in range(6):
        tokens = inputs["prev_output_tokens"][:, : step + 1]
        out, extra = model.decoder(tokens, encoder_out, incremental_state=state)
        logits.append(out[:, 0])
        opened.append(extra["opened"][0][:, 0])
        joint.append(extra["joint_score"][0].squeeze())
    opened = torch.stack(opened, dim=1)
    assert opened[:, 0].all()
    assert set(opened[:, 1:].flatten().tolist()) == {True, False}
    expected, extra = model(**inputs, chunk_tags=opened.int())
    torch.testing.assert_close(torch.stack(logits, dim=1), expected, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(torch.stack(joint, dim=1), joint_scores(extra), atol=1e-5, rtol=1e-4)


def joint_scores(extra):
    """The scores of boundaries and tags, from the logits of teacher forcing."""
    opened = extra["opened"][0]
    boundaries = extra["boundary_logits"][0].log_softmax(-1)
    scores = torch.where(opened, boundaries[..., 1], boundaries[..., 0])
    scores[:, 0] = 0
    tags = extra["tag_logits"][0].log_softmax(-1).max(-1).values
    return scores + tags.masked_fill(~opened, 0)


@pytest.mark.parametrize("joint", [True, False], ids=["joint", "words-alone"])
@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("row", ["paper", "word", "two-layers"])
@torch.no_grad()
def test_scores_and_alignments_of_a_search(folder, row, beam, joint):
    model, task = model_of(folder, row, *([] if joint else ["--no-joint-score"]))
    sample = sample_for(task)
    search = Namespace(beam=beam, max_len_b=9, unnormalized=True, print_alignment="soft")
    generator = task.build_generator([model], search)
    hypotheses = task.inference_step(generator, [model], sample)
    inputs, eos = sample["net_input"], torch.tensor([2])
    for number, nbest in enumerate(hypotheses):
        if inputs["src_lengths"][number] == 1:  # EOS alone
            assert [each["tokens"].tolist() for each in nbest] == [[2]]
            continue
        source = {key: x[number : number + 1] for key, x in inputs.items()}
        for hypothesis in nbest:
            tokens = hypothesis["tokens"]
            source["prev_output_tokens"] = torch.cat([eos, tokens[:-1]])[None]
            logits, extra = model(**source)
            scores = logits[0].log_softmax(dim=-1).gather(1, tokens[:, None]).squeeze(1)
            if joint:
                scores = scores + joint_scores(extra)[0]
            torch.testing.assert_close(
                hypothesis["positional_scores"], scores, atol=1e-4, rtol=1e-4
            )
            torch.testing.assert_close(hypothesis["score"], scores.sum(), atol=1e-4, rtol=1e-4)
            attended = hypothesis["attention"].t()[: len(tokens)]
            torch.testing.assert_close(attended, extra["attn"][0][0], atol=1e-5, rtol=1e-4)
    assert model.decoder.beam_size == 1


@torch.no_grad()
def test_greedy_search_by_hand(folder):
    """Words, boundaries and tags one by one, from the loops; nothing of the search's state."""
    model, task = model_of(folder, "paper")
    source = random_sentences([8])[0]
    sample = batch(task.source_dictionary, [source], [torch.tensor([2])])
    search = Namespace(beam=1, max_len_b=12, unnormalized=True)
    best = task.inference_step(task.build_generator([model], search), [model], sample)[0][0]
    tokens, total = [2], 0.0
    while len(tokens) == 1 or (tokens[-1] != 2 and len(tokens) <= 12):
        found = translate(model, source, torch.tensor(tokens), [-1] * len(tokens))
        scores, t = found.logits[-1].log_softmax(-1), len(tokens) - 1
        total += float(found.gate[t][int(found.opened[t])]) if t else 0
        total += float(found.tags[t].max()) if found.opened[t] else 0
        scores[task.target_dictionary.pad()] = float("-inf")
        if t == 0:
            scores[2] = float("-inf")  # the generator's minimal length is 1
        tokens.append(int(scores.argmax()))
        total += float(scores[tokens[-1]])
    if tokens[-1] != 2:  # forced at the maximal length
        found = translate(model, source, torch.tensor(tokens), [-1] * len(tokens))
        t = len(tokens) - 1
        total += float(found.gate[t][int(found.opened[t])])
        total += float(found.tags[t].max()) if found.opened[t] else 0
        total += float(found.logits[-1].log_softmax(-1)[2])
        tokens.append(2)
    assert best["tokens"].tolist() == tokens[1:]
    assert float(best["score"]) == pytest.approx(total, abs=1e-4)


@torch.no_grad()
def test_the_reported_nll_has_no_chunk_scores(folder):
    """Neither with annotation nor without; --score-reference goes through the model's forward."""
    model, task = model_of(folder, "paper")
    sample = sample_for(task)
    scorer = task.build_generator([model], Namespace(score_reference=True))
    for tags in (None, padded(CHUNK_TAGS, 6)):
        more = {} if tags is None else {"chunk_tags": tags}
        scored = task.inference_step(scorer, [model], {**sample, **more})
        logits = model(**sample["net_input"], chunk_tags=tags)[0].log_softmax(-1)
        for number, length in enumerate(LENGTHS):
            target = sample["target"][number, :length]
            expected = logits[number, :length].gather(1, target[:, None]).squeeze(1)
            torch.testing.assert_close(scored[number][0]["positional_scores"], expected)


@torch.no_grad()
def test_a_search_reads_no_annotation(folder):
    model, task = model_of(folder, "paper")
    sample = sample_for(task)
    tags = padded(CHUNK_TAGS, 6)
    given = {**sample, "chunk_tags": tags, "net_input": {**sample["net_input"], "chunk_tags": tags}}
    generator = task.build_generator([model], Namespace(beam=2, max_len_b=9))
    plain, other = (task.inference_step(generator, [model], each) for each in (sample, given))
    for one, two in zip(plain, other):
        assert torch.equal(one[0]["tokens"], two[0]["tokens"])


@torch.no_grad()
def test_sampling_scores_words_alone(folder):
    """Top-p counts on probabilities that add up to 1; of less than p it would keep every word."""
    model, task = model_of(folder, "paper")
    plain, _ = model_of(folder, "paper", "--no-joint-score")
    sample = sample_for(task)
    search = Namespace(beam=1, max_len_b=5, sampling=True, sampling_topp=0.6)

    def scores_and_kept(model):
        generator, kept = task.build_generator([model], search), []
        trim = generator.search._sample_topp

        def counted(lprobs):
            probabilities, indices = trim(lprobs)
            kept.append(probabilities.ne(0).sum(-1).flatten().tolist())
            return probabilities, indices

        generator.search._sample_topp = counted
        torch.manual_seed(0)
        found = task.inference_step(generator, [model], sample)
        return [nbest[0]["score"].item() for nbest in found], kept

    scores, kept = scores_and_kept(model)
    assert max(map(max, kept)) < len(task.target_dictionary) - 1
    assert (scores, kept) == scores_and_kept(plain)
    assert model.decoder.joint_score


@torch.no_grad()
def test_ensembles(folder):
    """With a model that has no joint score, words alone count; otherwise each adds its own."""
    model, task = model_of(folder, "paper")
    silent, _ = model_of(folder, "paper", "--no-joint-score")
    other, _ = model_of(folder, "word")
    plain, _, _ = build(folder, "rnn_search_cgru_tiny")
    sample = sample_for(task)

    def scores(*models):
        generator = task.build_generator(models, Namespace(beam=3, max_len_b=9))
        found = task.inference_step(generator, models, sample)
        return [each["score"].item() for nbest in found for each in nbest]

    assert scores(model, plain) == scores(silent, plain)
    assert scores(model, other) != scores(silent, other)
    assert scores(model, model) == pytest.approx(scores(model), abs=1e-5)
    assert model.decoder.joint_score
    assert not silent.decoder.joint_score


@pytest.mark.parametrize("row", ROWS)
def test_trains_without_the_losses_of_chunks(folder, row):
    model, task, _ = build(folder, "bi_scale_rnn", *ROWS[row])
    assert_trains(model, task, sample_for(task), updates=3)


def test_checkpoints_keep_the_tags(folder, tmp_path):
    model, _, cfg = build(folder, "bi_scale_rnn_tiny")
    assert model.decoder.chunk_tags == TAGS
    assert cfg.model.chunk_tags == "NP VP O"
    assert model.decoder.tag_classifier.output.out_features == len(TAGS) + 1
    bare = write_dictionaries(tmp_path)
    other, task, _ = build(bare, "bi_scale_rnn_tiny", "--chunk-tags", cfg.model.chunk_tags)
    assert other.decoder.chunk_tags == TAGS
    none, _, _ = build(bare, "bi_scale_rnn_tiny")
    assert none.decoder.chunk_tags == ()
    hydra = OmegaConf.create({"_name": "bi_scale_rnn_tiny", "chunk_tags": "A B"})
    assert task.build_model(hydra).decoder.chunk_tags == ("A", "B")
    hydra = OmegaConf.create({"_name": "bi_scale_rnn_tiny"})
    task.build_model(hydra)
    assert hydra.chunk_tags == ""


def test_sizes_of_the_paper(folder):
    for size in ("", "_nist_zh_en", "_wmt_de_en"):
        arch = "bi_scale_rnn" + size
        assert ARCH_MODEL_REGISTRY[arch] is SyntaxRNNModel
    _, task, _ = build(folder, "rnn_search")
    model = task.build_model(OmegaConf.create({"_name": "bi_scale_rnn_nist_zh_en"}))
    recurrence = model.decoder.recurrence
    assert model.encoder.embed_tokens.embedding_dim == 600
    assert model.decoder.embed_tokens.embedding_dim == 600
    assert model.encoder.output_dim == 2000
    assert recurrence.state_dim == recurrence.clock.chunk_dim == recurrence.attention_dim == 1000
    assert model.decoder.output_projection.in_features == 1000
    assert model.decoder.readout.kind == "tanh"


@pytest.mark.parametrize(
    ("arch", "arguments", "message"),
    [
        ("rnn_search", ["--chunk-context=step"], "--chunk-context needs --bi-scale"),
        ("rnn_search", ["--chunk-attention=word"], "--chunk-attention needs --bi-scale"),
        ("rnn_search", ["--chunk-readout=state"], "--chunk-readout needs --bi-scale"),
        ("rnn_search", ["--no-joint-score"], "--no-joint-score needs --bi-scale"),
        ("rnn_search", ["--chunk-tags=NP"], "--chunk-tags needs --bi-scale"),
        ("bi_scale_rnn", ["--chunk-tags=NP VP NP"], "NP comes twice"),
    ],
)
def test_contradicting_options(folder, arch, arguments, message):
    with pytest.raises(UserError, match=message):
        build(folder, arch, *arguments)
