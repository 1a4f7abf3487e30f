"""Variational recurrent translation (Su et al., AAAI 2018): a latent variable at every target step.

A conditional GRU chooses z_j after its attention, and reads it in its second step. Training samples
z_j from a posterior that sees the word y_j to come, and pays for what that tells beyond the prior.
Validation and search take the mean of the prior.

| equation | here |
|---|---|
| prior p(z_j ∣ x, y_<j, z_<j), posterior q(z_j ∣ x, y_≤j, z_<j) | `latent.StepGaussian` |
| z_j = μ_j + σ_j ∘ ε | `latent.sample` |
| KL(q_j ∥ p_j) | `latent.divergence` |
| s_j = GRU([c_j; f(W_z z_j + b_z)], s~_j) | `recurrence.VariationalGRU` |
| the bound: Σ_j E_q log p(y_j ∣ …) − Σ_j KL(q_j ∥ p_j) | `loss.VariationalObjective` |

The equations are those of a conditional GRU: the paper attends, chooses z_j and computes s_j from
s_{j−1} and y_{j−1}, where s~_j, which has read both, stands here, so that z_j has one place. They
are from memory: the paper's text was not at hand. Its widths of z and of the layers around it, and
the growth of the weight of KL, are not known: see the options.
"""

from syntax_nmt.methods.method import (
    RNN,
    RNN_DECODER,
    RNN_SIZES,
    Loss,
    Method,
    Preset,
    TrainingRecipe,
)
from syntax_nmt.methods.variational.extension import LatentVariables
from syntax_nmt.methods.variational.loss import VariationalObjective
from syntax_nmt.methods.variational.options import VariationalLossOptions, VariationalOptions

_SWITCHED_ON = {"conditional_gru": True, "latent_dim": 100}
_SIZES = {suffix: {"latent_dim": 16} if suffix == "_tiny" else {} for suffix in RNN_SIZES}

METHOD = Method(
    name="variational decoders",
    families=(RNN,),
    options=VariationalOptions,
    extensions={RNN_DECODER: LatentVariables},
    loss=Loss(
        "variational_cross_entropy",
        VariationalObjective,
        VariationalLossOptions,
        {"--kl-weight": 1.0},
    ),
    presets={"variational_rnn": Preset(RNN, _SWITCHED_ON, _SIZES)},
    recipes=(
        TrainingRecipe(
            "a latent variable at every target step",
            "variational_rnn",
            "variational",
            criterion="variational_cross_entropy",
            family=RNN,
        ),
    ),
)
