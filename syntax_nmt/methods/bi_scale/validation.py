"""Validation with the boundaries that the decoder chooses itself."""

from collections.abc import Callable

from torch import nn

from syntax_nmt.data.annotation import CHUNKS
from syntax_nmt.data.batch import Batch, Logged
from syntax_nmt.methods.bi_scale.loss import LOGGED
from syntax_nmt.methods.objective import Validation, log_average

_NLL, _TOKENS = "gold_nll_loss", "gold_ntokens"


class ChunkValidation(Validation):
    """The decoder chooses boundaries, as in a search; a second pass has those of the annotation."""

    def applies(self, sample: Batch) -> bool:
        """Whether a batch has gold boundaries among the inputs of the model."""
        return CHUNKS.key in sample["net_input"]

    def as_in_search(self, sample: Batch) -> Batch:
        """The batch with chunks neither at its top nor among the inputs."""

        def rest(values: Batch) -> Batch:
            return {key: value for key, value in values.items() if key not in CHUNKS.keys}

        return {**rest(sample), "net_input": rest(sample["net_input"])}

    def under_annotation(self, sample: Batch, model: nn.Module, criterion: nn.Module) -> Logged:
        """The nll with gold boundaries, and the figures of boundaries and tags, if the criterion
        has them.
        """
        _, _, gold = criterion(model, sample)
        figures = {name: gold[name] for name in LOGGED if name in gold}
        # Without label smoothing the loss is the nll, and the log has only the loss.
        return {**figures, _NLL: gold.get("nll_loss", gold["loss"]), _TOKENS: gold["ntokens"]}

    def log(self, total: Callable[[str], float]) -> None:
        """Logs the nll with the boundaries of the annotation.

        Args:
            total: gives the sum of one key over all batches and workers; those of training lack it.
        """
        log_average(_NLL, total(_NLL), total(_TOKENS))
