"""The synchronous constraint: a loss between source and target structures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from fairseq.tasks import FairseqTask
from torch import Tensor, nn

from syntax_nmt.backbone.numerics import at_least_float32
from syntax_nmt.backbone.structures import (
    CROSS_ATTENTION,
    SOURCE_ATTENTION,
    SOURCE_DISTANCES,
    TARGET_ATTENTION,
    TARGET_DISTANCES,
)
from syntax_nmt.data.batch import Batch, Logged, ModelExtra
from syntax_nmt.errors import UserError
from syntax_nmt.methods.latent_phrases.tied_layers import tied_attention, tied_distances
from syntax_nmt.methods.objective import AuxiliaryObjective, detached_sum, log_mean, log_percentage
from syntax_nmt.option_checks import check_choice, check_from_zero, warn_of_changed

RANK, MSE, ATTENTION = "rank", "mse", "attention"


SUM, MEAN = "sum", "mean"


_ORDERS = ("sync_pairs", "sync_violated", "sync_misordered")  # of rank_loss


@dataclass(frozen=True)
class SynchronousObjective(AuxiliaryObjective):
    """`λ·L_sync` of Harada and Watanabe (2021), equations 7 to 11.

    Distances and the cross-attention C are averaged over heads. Position t of the decoder reads
    y_{t−1} and predicts y_t: its distance d_t belongs to the word that it reads, its row of C to
    the word that it predicts. The paper compares equal indices; `shift` compares the projected
    distance ê_t with d_{t+1}. Positions that predict no real word (EOS, pads) do not count.

    Losses are summed over a sentence's positions or pairs of positions, as in the paper. `mean`
    multiplies a sentence's mean by its number of words, so that it grows linearly with the length,
    like the translation loss, and not with its square.

    Attributes:
        eos: id of the end of a sentence.
        pad: id of the padding symbol.
        loss: `rank`, `mse` or `attention`.
        weight: λ.
        normalize: `sum` as in the paper, or `mean`.
        margin: of the rank loss.
        shift: compare position t of the projected source with position t + 1 of the target.
        layers: number of compared layers.
        encoder_layers: whose attention the attention loss reads; empty = the lowest.
        decoder_layers: whose self-attention it reads; empty = the lowest.
        cross_layers: whose cross-attention it reads; empty = the top.
    """

    eos: int
    pad: int
    loss: str
    weight: float
    normalize: str
    margin: float
    shift: bool
    layers: int
    encoder_layers: tuple[int, ...] = ()
    decoder_layers: tuple[int, ...] = ()
    cross_layers: tuple[int, ...] = ()

    @classmethod
    def from_options(cls, options: Any, task: FairseqTask) -> SynchronousObjective | None:
        """Builds the objective; None = its weight is 0.

        Args:
            task: has the target dictionary.

        Raises:
            UserError: options that contradict each other.
        """
        if options.sync_weight == 0:
            others = [x for x in options if x.startswith("sync_") and x != "sync_weight"]
            warn_of_changed(options, others, "--sync-weight 0")
            return None
        check_from_zero(options, ["sync_margin"])
        loss, normalize = str(options.sync_loss), str(options.sync_normalize)
        check_choice("sync_loss", loss, (RANK, MSE, ATTENTION))
        check_choice("sync_normalize", normalize, (SUM, MEAN))
        if loss != RANK:
            warn_of_changed(options, ["sync_margin"], f"--sync-loss {loss}")
        chosen = [
            _indices(f"--sync-{name}-layers", getattr(options, f"sync_{name}_layers"))
            for name in ("encoder", "decoder", "cross")
        ]
        if any(chosen) and loss != ATTENTION:
            raise UserError(
                "--sync-encoder-layers, --sync-decoder-layers and --sync-cross-layers go with "
                "--sync-loss attention; otherwise use --sync-layers"
            )
        if all(chosen):
            warn_of_changed(options, ["sync_layers"], "three lists of --sync-…-layers")
        encoder_layers, decoder_layers, cross_layers = chosen
        return cls(
            eos=task.target_dictionary.eos(),
            pad=task.target_dictionary.pad(),
            loss=loss,
            weight=options.sync_weight,
            normalize=normalize,
            margin=options.sync_margin,
            shift=options.sync_shift,
            layers=options.sync_layers,
            encoder_layers=encoder_layers,
            decoder_layers=decoder_layers,
            cross_layers=cross_layers,
        )

    def model_arguments(self, model: nn.Module) -> dict[str, Any]:
        """The structures that the loss reads.

        Raises:
            UserError: the model does not have them.
        """
        if self.loss != ATTENTION:
            return {"structures": tied_distances(model, self.layers)}
        chosen = self.encoder_layers, self.decoder_layers, self.cross_layers
        return {"structures": tied_attention(model, self.layers, *chosen)}

    def __call__(self, extra: ModelExtra, sample: Batch) -> tuple[Tensor, Logged]:
        """Computes the loss of a batch.

        Args:
            sample: has `target`, B×T.

        Returns:
            the weighted loss summed over sentences and layers, and sums for the log.
        """
        target = sample["target"]
        real = target.ne(self.eos) & target.ne(self.pad)
        if self.shift:
            real = real[:, :-1]
        layers = zip(*self._layer_losses(extra, real))
        sums, counts, *orders = map(torch.stack, layers)  # layers×B each
        logs = {
            "sync_loss": detached_sum(sums),
            "sync_terms": detached_sum(counts),
            **dict(zip(_ORDERS, map(detached_sum, orders))),
        }
        if self.normalize == MEAN:
            sums = sums * real.sum(dim=1) / counts.clamp(min=1)
        return self.weight * sums.sum(), logs

    def _layer_losses(self, extra: Mapping[str, Any], real: Tensor) -> Iterator[tuple[Tensor, ...]]:
        """Sums, counts and numbers of pairs of each sentence, layer by layer."""
        last = -1 if self.shift else None
        following = slice(1 if self.shift else 0, None)
        attention_wanted = self.loss == ATTENTION
        source, target = (
            (SOURCE_ATTENTION, TARGET_ATTENTION)
            if attention_wanted
            else (SOURCE_DISTANCES, TARGET_DISTANCES)
        )
        for e, d, c in zip(extra[source], extra[target], extra[CROSS_ATTENTION]):
            c = c[:, :last]
            orders: Sequence[Tensor] = ()
            if attention_wanted:
                sums, counts = attention_loss(c, e, d[:, following, following], real)
            else:
                projected, distances = project(c, e.mean(dim=1)), d.mean(dim=1)[:, following]
                if self.loss == MSE:
                    sums, counts = mse_loss(projected, distances, real)
                else:
                    sums, counts, *wrong = rank_loss(projected, distances, real, self.margin)
                    orders = (counts, *wrong)
            yield sums, counts, *(orders or [torch.zeros_like(counts)] * len(_ORDERS))

    @staticmethod
    def log(total: Callable[[str], float]) -> None:
        """Logs the loss per term: a position, or a pair of positions.

        The rank loss also logs the shares of pairs that violate the margin and of those in the
        wrong order.

        Args:
            total: gives the sum of one logged key over all batches and workers.
        """
        log_mean("sync_loss", total("sync_loss"), total("sync_terms"))
        for name in ("sync_violated", "sync_misordered"):
            log_percentage(name, total(name), total("sync_pairs"))


def _indices(option: str, text: str) -> tuple[int, ...]:
    """Layers separated by commas."""
    try:
        return tuple(int(part) for part in text.split(",")) if text else ()
    except ValueError:
        raise UserError(
            f"{option} {text}: give numbers of layers separated by commas: 0,1 or -2,-1"
        ) from None


def project(cross_attention: Tensor, distances: Tensor) -> Tensor:
    """Source distances seen from the target: `ê = C e`, equation 8, B×T in float32 at least.

    Args:
        cross_attention: C, B×T×S.
        distances: e, B×S.
    """
    # Products and sums: a matrix product would fall under autocast.
    weights, distances = at_least_float32(cross_attention), at_least_float32(distances)
    return (weights * distances.unsqueeze(1)).sum(dim=2)


def rank_loss(
    projected: Tensor, distances: Tensor, real: Tensor, margin: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """`Σ_{i<j} max(0, m − sign(d_i − d_j)·(ê_i − ê_j))`, equation 10; every pair counts once.

    The source's distances follow the order of the target's: d gets no gradient here. Pairs of equal
    distances do not count. Distances lie in (−1, 1), so not all pairs of more than two words can
    differ by a margin of 1: most violate it after any training, and their order shows what was
    learned.

    Args:
        projected: ê, B×T.
        distances: d, B×T.
        real: B×T.
        margin: m, 1 in the paper.

    Returns:
        sums, numbers of pairs, of those that violate the margin, and of those in the wrong order,
        B each.
    """
    order = torch.sign(_differences(distances.detach()))
    apart = order * _differences(projected)
    pairs = (_both(real) & order.ne(0)).triu(1)
    sums, count = _sum_and_count(torch.relu(margin - apart), pairs, (1, 2))
    violated, misordered = ((pairs & apart.lt(m)).sum(dim=(1, 2)) for m in (margin, 0))
    return sums, count, violated, misordered


def mse_loss(projected: Tensor, distances: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
    """`Σ_i (ê_i − d_i)²`, equation 7.

    Args:
        projected: ê, B×T.
        distances: d, B×T.
        real: B×T.

    Returns:
        sums and numbers of positions, B each.
    """
    return _sum_and_count((projected - distances).square(), real, (1,))


def attention_loss(
    cross_attention: Tensor, source_attention: Tensor, target_attention: Tensor, real: Tensor
) -> tuple[Tensor, Tensor]:
    """`Σ_{j≤i} ((C A_enc Cᵀ)_{ij} − A_dec,ij)²` (Deguchi et al., 2021).

    Args:
        cross_attention: C, B×T×S.
        source_attention: A_enc, B×S×S.
        target_attention: A_dec, B×T×T.
        real: B×T.

    Returns:
        sums and numbers of pairs, B each.
    """
    with torch.autocast(cross_attention.device.type, enabled=False):
        c = at_least_float32(cross_attention)
        projected = c @ at_least_float32(source_attention) @ c.transpose(1, 2)
    squares = (projected - at_least_float32(target_attention)).square()
    return _sum_and_count(squares, _both(real).tril(), (1, 2))


def _differences(x: Tensor) -> Tensor:
    """x_i − x_j at [i, j], B×T×T."""
    return x.unsqueeze(2) - x.unsqueeze(1)


def _both(real: Tensor) -> Tensor:
    """Whether both positions are real, B×T×T."""
    return real.unsqueeze(2) & real.unsqueeze(1)


def _sum_and_count(terms: Tensor, selected: Tensor, dims: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    return terms.masked_fill(~selected, 0.0).sum(dim=dims), selected.sum(dim=dims)
