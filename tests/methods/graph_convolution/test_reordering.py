"""Artificial reordering (Bastings et al., 2017, section 4): only arcs tell the order of symbols.

The head of each symbol is the one before it in the output. Each symbol also has a false arc, and
only labels tell true from false ones: the gates learn it.
"""

import random
from argparse import Namespace

import pytest
import sacrebleu
import torch
from small_models import batch, build, write_dictionaries
from torch.nn.functional import cross_entropy

from syntax_nmt.methods.graph_convolution.layer import Arcs

pytestmark = pytest.mark.slow

FIRST, SYMBOLS, PAD, EOS = 4, 26, 1, 2
EPOCHS, LR = 6, 4e-3
SIZES = (
    *("--encoder-embed-dim=32", "--decoder-embed-dim=32", "--encoder-hidden-size=64"),
    *("--decoder-hidden-size=128", "--attention-dim=64", "--decoder-out-embed-dim=32"),
)
# One layer that only listens to heads, so that gates are all that can shut false arcs out.
LAYER = ("--gcn-layers=1", "--gcn-arcs=out", "--gcn-edge-dropout=0.1")


def sequences(count, seed):
    """(source, target, true heads, false heads) of sequences of 3 to 10 different symbols."""
    generator = random.Random(seed)
    for _ in range(count):
        length = generator.randint(3, 10)
        target = generator.sample(range(FIRST, FIRST + SYMBOLS), length)
        order = random.Random(generator.random()).sample(range(length), length)
        place = {t: i for i, t in enumerate(order)}
        true = [place[max(t - 1, 0)] for t in order]
        false = [generator.randrange(length) for _ in range(length)]
        yield [target[t] for t in order], target, true, false


def batches(data, seed, size=100):
    """Batches of similar lengths, in random order."""
    shuffled = random.Random(seed).sample(data, len(data))
    groups = [shuffled[i : i + 20 * size] for i in range(0, len(data), 20 * size)]
    rows = [row for group in groups for row in sorted(group, key=lambda row: len(row[0]))]
    found = [rows[i : i + size] for i in range(0, len(rows), size)]
    return random.Random(seed).sample(found, len(found))


def arcs_of(heads, length, labels):
    """Arcs of a batch that is padded on the left; two labels by the distance."""
    columns = torch.arange(length).repeat(len(heads), 1)
    found = columns.clone()
    for row, places in zip(found, heads):
        start = length - 1 - len(places)
        row[start : length - 1] = torch.tensor(places) + start
    return Arcs(found, labels + (columns + found) % 2, found.ne(columns))


class Learner:
    """A model, trained and tried."""

    def __init__(self, folder, arch, *options):
        self.model, self.task, _ = build(folder, arch, *SIZES, *options, width=32)
        self.extensions = self.model.encoder.extensions

    def batch(self, rows):
        """The texts; the encoder gets true and false arcs in place of a tree."""
        sides = ([torch.tensor([*row[side], EOS]) for row in rows] for side in (0, 1))
        found = batch(self.task.source_dictionary, *sides)
        length = found["net_input"]["src_tokens"].size(1)
        arcs = [arcs_of([row[kind] for row in rows], length, 2 * kind - 4) for kind in (2, 3)]
        for extension in self.extensions:
            extension.reads, extension.arcs = (), lambda source: tuple(arcs)
        return found, arcs

    def train(self, data, epochs, lr):
        torch.manual_seed(1)
        optimizer = torch.optim.Adam(self.model.train().parameters(), lr=lr)
        for epoch in range(epochs):
            for rows in batches(data, epoch):
                found, _ = self.batch(rows)
                logits, _ = self.model(**found["net_input"])
                target = found["target"].flatten()
                loss = cross_entropy(logits.flatten(0, 1), target, ignore_index=PAD)
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                optimizer.step()
        self.model.eval()

    @torch.no_grad()
    def bleu(self, data):
        search = Namespace(beam=1, max_len_a=0, max_len_b=14)
        generator = self.task.build_generator([self.model], search)
        outputs, references = [], []
        for rows in batches(data, 0):
            found, _ = self.batch(rows)
            for row, (best, *_) in zip(rows, generator.generate([self.model], found)):
                outputs.append(" ".join(map(str, best["tokens"].tolist()[:-1])))
                references.append(" ".join(map(str, row[1])))
        return sacrebleu.corpus_bleu(outputs, [references], tokenize="none", force=True).score

    @torch.no_grad()
    def gates(self, data):
        """The mean gates of true and of false arcs."""
        (extension,), encoder = self.extensions, self.model.encoder
        (layer,) = extension.layers.layers
        found = [], []
        for rows in batches(data, 0):
            texts, arcs = self.batch(rows)
            tokens = texts["net_input"]["src_tokens"]
            states = encoder.network(encoder.embed_tokens(tokens), tokens.eq(PAD))
            for gates, each in zip(found, arcs):
                gates.append(layer.gates(states, each)["out"][each.there])
        return [float(torch.cat(gates).mean()) for gates in found]


def test_arcs_tell_the_order(tmp_path):
    folder = write_dictionaries(tmp_path)
    train, valid = list(sequences(25_000, 1)), list(sequences(500, 2))
    graph = Learner(folder, "gcn_rnn", *LAYER)
    graph.train(train, EPOCHS, LR)
    assert graph.bleu(valid) >= 95
    true, false = graph.gates(valid)
    assert true > 0.5
    assert false < 0.1
    plain = Learner(folder, "rnn_search_cgru")
    plain.train(train, EPOCHS, LR)
    assert plain.bleu(valid) < 40
