"""Decoders are autoregressive: no future token is read, and steps equal teacher forcing."""

from argparse import Namespace

import torch
from bi_scale_loops import joint_scores
from small_models import VOCABULARY, random_sentences

from syntax_nmt.text.languages import TARGET


def test_future_is_not_read(small):
    sources, targets = random_sentences([7]), random_sentences([9], 5)
    assert targets[0][0] % 4  # annotated
    inputs = small.batch(sources, targets)["net_input"]
    other = small.batch(sources, targets, seed=1)["net_input"]
    with torch.no_grad():
        before = small.model(**inputs)[0]
        for position in range(1, inputs["prev_output_tokens"].size(1)):
            tokens = inputs["prev_output_tokens"].clone()
            tokens[0, position:] = 4 + (tokens[0, position:] + 1) % (VOCABULARY - 4)
            later = {"prev_output_tokens": tokens}
            for kind in small.annotation:
                if kind.side == TARGET:
                    later[kind.key] = inputs[kind.key].clone()
                    later[kind.key][:, position:] = other[kind.key][:, position:]
            after = small.model(**{**inputs, **later})[0]
            torch.testing.assert_close(
                after[:, :position], before[:, :position],
                msg=lambda m, p=position: f"{m}\n\nWhat stands in the target from position {p} on "
                "changes logits before it: the decoder reads the future.",
            )  # fmt: skip
            assert (after[:, position] - before[:, position]).abs().max() > 1e-4


def encode_and_step(model, inputs, steps, orders=None, first=0):
    """Feeds the target one token at a time; `orders[t]` rearranges the rows before step t.

    The logits from step `first` on.
    """
    source = {k: v for k, v in inputs.items() if k != "prev_output_tokens"}
    encoder_out = model.encoder.forward_torchscript({**source, "prev_output_tokens": None})
    tokens, state, logits = inputs["prev_output_tokens"], {}, []
    for step in range(steps):
        if orders is not None and step in orders:
            order = orders[step]
            tokens = tokens.index_select(0, order)
            encoder_out = model.encoder.reorder_encoder_out(encoder_out, order)
            model.decoder.reorder_incremental_state_scripting(state, order)
        out, _ = model.decoder(
            tokens[:, : step + 1], encoder_out=encoder_out, incremental_state=state
        )
        if step >= first:
            logits.append(out[:, -1])
    return torch.stack(logits, dim=1)


@torch.no_grad()
def test_steps_equal_teacher_forcing(small):
    lengths = [8, 8, 8]
    sample = small.batch(random_sentences([5, 9, 2]), random_sentences(lengths, 6), searches=True)
    expected = small.model(**sample["net_input"])[0]
    actual = encode_and_step(small.model, sample["net_input"], lengths[0])
    torch.testing.assert_close(actual, expected, atol=2e-5, rtol=1e-4)


@torch.no_grad()
def test_state_follows_the_beam(small):
    """After hypotheses are rearranged, every row continues as its new history demands."""
    source = random_sentences([6])[0]
    targets = random_sentences([7, 7, 7], 8)
    sample = small.batch([source] * 3, targets, searches=True)
    inputs = sample["net_input"]
    order = torch.tensor([2, 0, 0])
    actual = encode_and_step(small.model, inputs, 7, orders={4: order}, first=4)
    reordered = {**inputs, "prev_output_tokens": inputs["prev_output_tokens"][order]}
    expected = encode_and_step(small.model, reordered, 7)
    torch.testing.assert_close(actual, expected[:, 4:], atol=2e-5, rtol=1e-4)


@torch.no_grad()
def test_state_follows_when_sentences_are_done(small):
    """Sentences leave the search: the rows of the others keep their own source."""
    targets = random_sentences([7, 7, 7], 8)
    sample = small.batch(random_sentences([6, 3, 9]), targets, searches=True)
    inputs = sample["net_input"]
    expected = small.model(**inputs)[0]
    for left in ([0, 2], [1], [1, 2]):
        rows = torch.tensor(left)
        actual = encode_and_step(small.model, inputs, 7, orders={4: rows}, first=4)
        torch.testing.assert_close(actual, expected[rows, 4:], atol=2e-5, rtol=1e-4)


def translate(small, sources, beam, **options):
    targets = [torch.tensor([2])] * len(sources)
    sample = small.batch(sources, targets)
    search = Namespace(beam=beam, max_len_b=12, **options)
    generator = small.task.build_generator([small.model], search)
    return small.task.inference_step(generator, [small.model], sample)


@torch.no_grad()
def test_scores_and_alignments_of_a_search_are_those_of_teacher_forcing(small):
    """Of every hypothesis, with the scores of chunks where they count."""
    for source in random_sentences([3, 8]):
        options = {"unnormalized": True, "print_alignment": "soft"}
        (hypotheses,) = translate(small, [source], 2, **options)
        for hypothesis in hypotheses:
            tokens = hypothesis["tokens"]
            inputs = small.batch([source], [tokens], searches=True)["net_input"]
            logits, extra = small.model(**inputs)
            scores = logits[0].log_softmax(dim=-1).gather(1, tokens[:, None]).squeeze(1)
            if getattr(small.model.decoder, "joint_score", False):
                scores = scores + joint_scores(extra)[0]
            found = hypothesis["positional_scores"]
            torch.testing.assert_close(found, scores, atol=1e-4, rtol=1e-4)
            torch.testing.assert_close(hypothesis["score"], scores.sum(), atol=1e-4, rtol=1e-4)
            if extra["attn"][0] is None:  # Transformers give it on demand
                top = small.model.decoder.num_layers - 1
                _, extra = small.model(**inputs, alignment_layer=top)
            attended = hypothesis["attention"].t()[: len(tokens)]
            torch.testing.assert_close(attended, extra["attn"][0][0], atol=1e-5, rtol=1e-4)


def test_batched_search_equals_one_by_one(small):
    sources = random_sentences([9, 2, 6, 12, 4])
    for beam in (1, 3):
        together = translate(small, sources, beam)
        for source, hypotheses in zip(sources, together):
            for alone, hypothesis in zip(translate(small, [source], beam)[0], hypotheses):
                assert alone["tokens"].tolist() == hypothesis["tokens"].tolist()
                torch.testing.assert_close(
                    alone["score"], hypothesis["score"], atol=1e-5, rtol=1e-4
                )
