"""An RNN decoder with a latent variable at every step."""

from collections.abc import Mapping

from torch import Tensor

from syntax_nmt.backbone.additive_attention import AttentionMemory
from syntax_nmt.backbone.extension import Target
from syntax_nmt.backbone.rnn_decoder import RNNDecoder, Steps
from syntax_nmt.errors import UserError
from syntax_nmt.methods.variational.recurrence import VariationalGRU, words_to_come

PRIOR_MEAN, PRIOR_LOG_VARIANCE = "prior_mean", "prior_log_variance"
POSTERIOR_MEAN, POSTERIOR_LOG_VARIANCE = "posterior_mean", "posterior_log_variance"
_NAMES = (PRIOR_MEAN, PRIOR_LOG_VARIANCE, POSTERIOR_MEAN, POSTERIOR_LOG_VARIANCE)


class VariationalDecoder(RNNDecoder):
    """An RNN decoder whose training samples z of the posterior, if there is one.

    It then returns both Gaussians of every step, B×T×Z, under the names of this module.

    Attributes:
        updates: of the training so far, which fairseq tells it.
        pays: whether a loss counts what the posterior tells: without one, training would learn to
            hand over the answer.
    """

    recurrence: VariationalGRU
    updates = 0
    pays = False

    def set_num_updates(self, num_updates: int) -> None:
        """Keeps the number of updates; fairseq calls it before each."""
        self.updates = num_updates

    def _steps(
        self,
        tokens: Tensor,
        words: Tensor,
        states: list[Tensor],
        memory: AttentionMemory,
        kept: Mapping[str, Tensor] | None,
        target: Target,
    ) -> Steps:
        following = None
        if self.training and self.recurrence.posterior is not None:
            if not self.pays:
                raise UserError(
                    "the variational decoder needs its loss: give --criterion "
                    "variational_cross_entropy, or --kl-weight 1 to syntax_cross_entropy"
                )
            come = words_to_come(tokens.t(), self.dictionary.pad(), self.dictionary.eos()).t()
            following = self.dropout_in(self.embed_tokens(come))
        found, weights, gaussians = self.recurrence(words, states[0], memory, following)
        parts = [part.transpose(0, 1) for gaussian in gaussians for part in gaussian]
        return Steps(found, weights, extra={name: [part] for name, part in zip(_NAMES, parts)})
