"""The same Transformer in other toolkits: Hugging Face's Marian, and joeynmt.

They read the batches that fairseq reads, and train with label smoothing, torch's fused Adam and
clipped gradients, in their own code where they have it.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import torch
from fairseq.data import Dictionary
from sizes import Sizes
from torch import Tensor, nn

SMOOTHING, DROPOUT, LONGER = 0.1, 0.1, 5  # a translation has that many more tokens


class Peer(ABC):
    """A model of another toolkit.

    Attributes:
        name: of the toolkit.
        model: in training and in search.
    """

    def __init__(self, name: str, model: nn.Module, dictionary: Dictionary) -> None:
        self.name, self.model, self.pad = name, model, dictionary.pad()
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0, fused=True)

    @property
    def parameters(self) -> int:
        """How many numbers are trained."""
        return sum(each.numel() for each in self.model.parameters() if each.requires_grad)

    def train(self, batches: Sequence[dict[str, Any]]) -> None:
        """One update for each batch."""
        self.model.train()
        for batch in batches:
            self.optimizer.zero_grad()
            source, given = batch["net_input"]["src_tokens"], batch["net_input"]
            self.loss(source, given["prev_output_tokens"], batch["target"]).backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()

    @torch.no_grad()
    def decode(self, batches: Sequence[dict[str, Any]], beam: int) -> None:
        """Beam search for each batch.

        Args:
            beam: hypotheses a sentence.
        """
        self.model.eval()
        for batch in batches:
            source = batch["net_input"]["src_tokens"]
            self.search(source, beam, source.size(1) + LONGER)

    @abstractmethod
    def loss(self, source: Tensor, before: Tensor, target: Tensor) -> Tensor:
        """The mean smoothed loss of a token.

        Args:
            source: B×S.
            before: B×T, the token before each of the target's.
            target: B×T.
        """

    @abstractmethod
    def search(self, source: Tensor, beam: int, longest: int) -> None:
        """Translates B×S.

        Args:
            longest: tokens of each translation: an untrained model may end at once.
        """


class Marian(Peer):
    """`MarianMTModel` of Hugging Face's transformers."""

    def __init__(self, sizes: Sizes, dictionary: Dictionary) -> None:
        from transformers import MarianConfig, MarianMTModel

        halves = {
            f"{half}_{name}": value
            for half in ("encoder", "decoder")
            for name, value in [
                ("layers", sizes.layers),
                ("ffn_dim", sizes.ffn),
                ("attention_heads", sizes.heads),
            ]
        }
        config = MarianConfig(
            vocab_size=len(dictionary),
            d_model=sizes.width,
            dropout=DROPOUT,
            activation_function="relu",
            scale_embedding=True,
            pad_token_id=dictionary.pad(),
            eos_token_id=dictionary.eos(),
            forced_eos_token_id=None,
            decoder_start_token_id=dictionary.eos(),
            **halves,
        )
        super().__init__("marian", MarianMTModel(config), dictionary)

    def loss(self, source: Tensor, before: Tensor, target: Tensor) -> Tensor:
        """The mean of torch's own loss; that of the toolkit has no smoothing."""
        logits = self.model(
            input_ids=source, attention_mask=source.ne(self.pad), decoder_input_ids=before
        ).logits
        return nn.functional.cross_entropy(
            logits.flatten(0, 1),
            target.flatten(),
            ignore_index=self.pad,
            label_smoothing=SMOOTHING,
        )

    def search(self, source: Tensor, beam: int, longest: int) -> None:
        """As fairseq ends: once there are as many translations as beams."""
        generate: Any = self.model.generate
        generate(
            input_ids=source,
            attention_mask=source.ne(self.pad),
            num_beams=beam,
            min_new_tokens=longest,
            max_new_tokens=longest,
            early_stopping=True,
        )


class JoeyNMT(Peer):
    """joeynmt's Transformer."""

    def __init__(self, sizes: Sizes, dictionary: Dictionary) -> None:
        from joeynmt.model import build_model
        from joeynmt.vocabulary import Vocabulary

        special = SimpleNamespace(lang_tags=[], sep_token=None)
        for number, name in enumerate(("unk", "pad", "bos", "eos")):  # pads as in fairseq
            vars(special).update({f"{name}_token": f"<{name}>", f"{name}_id": number})
        words = Vocabulary([str(word) for word in range(4, len(dictionary))], special)
        half = {
            "type": "transformer",
            "num_layers": sizes.layers,
            "num_heads": sizes.heads,
            "hidden_size": sizes.width,
            "ff_size": sizes.ffn,
            "dropout": DROPOUT,
            "layer_norm": "post",
            "embeddings": {"embedding_dim": sizes.width, "scale": True},
        }
        tied = {"tied_embeddings": True, "tied_softmax": True}
        model = build_model({"encoder": half, "decoder": half, **tied}, words, words)
        model.loss_function = ("crossentropy", SMOOTHING)
        super().__init__("joeynmt", model, dictionary)

    def loss(self, source: Tensor, before: Tensor, target: Tensor) -> Tensor:
        """The toolkit's own."""
        total, *_ = self.model(
            return_type="loss",
            src=source,
            src_mask=self._mask(source),
            src_length=source.ne(self.pad).sum(1),
            trg_input=before,
            trg=target,
            trg_mask=self._mask(target),
        )
        return total / target.ne(self.pad).sum()

    def search(self, source: Tensor, beam: int, longest: int) -> None:
        """Without a penalty of lengths."""
        from joeynmt.search import beam_search

        mask = self._mask(source)
        length = source.ne(self.pad).sum(1)
        states, hidden, *_ = self.model(
            return_type="encode", src=source, src_length=length, src_mask=mask
        )
        lengths = {"max_output_length": longest, "min_output_length": longest}
        beam_search(self.model, beam, states, hidden, mask, **lengths, alpha=-1)

    def _mask(self, tokens: Tensor) -> Tensor:
        """B×1×T, True = a token."""
        return tokens.ne(self.pad).unsqueeze(1)


PEERS: dict[str, Callable[[Sizes, Dictionary], Peer]] = {"marian": Marian, "joeynmt": JoeyNMT}


def build_peers(sizes: Sizes, dictionary: Dictionary, device: str, dtype: str) -> list[Peer]:
    """Those that are installed; says which are not.

    Args:
        dtype: the name of torch's type. The optimizer keeps no float32 copy.
    """
    found = []
    for name, make in PEERS.items():
        torch.manual_seed(1)
        try:
            peer = make(sizes, dictionary)
        except ImportError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
            continue
        peer.model.to(device, getattr(torch, dtype))
        found.append(peer)
    return found
