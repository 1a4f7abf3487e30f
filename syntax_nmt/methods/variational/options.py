"""The options of variational decoders and their loss (Su et al., 2018).

fairseq reads the types of the fields at run time: no postponed annotations in this file.
"""

from dataclasses import dataclass

from fairseq.dataclass import ChoiceEnum, FairseqDataclass

from syntax_nmt.arguments import Needs, decoder_option, option

POSTERIOR, PRIOR = "posterior", "prior"
SAMPLED_FROM = (POSTERIOR, PRIOR)

_ON = Needs("latent_dim")


@dataclass
class VariationalOptions(FairseqDataclass):
    """The latent variables; off by default."""

    latent_dim: int = decoder_option(
        0,
        "variational decoder (Su et al., 2018): width of the latent variable z_j of every target "
        "step of a conditional GRU (default: 0, none; variational_rnn: 100, its tiny size: 16; the "
        "paper's is not known)",
    )
    latent_from: ChoiceEnum(SAMPLED_FROM) = decoder_option(  # type: ignore[valid-type]
        POSTERIOR,
        "variational decoder: training samples z_j from the posterior, which sees the word to come "
        "(the paper), or from the prior, which is learned noise without a divergence: a control "
        "(default: posterior)",
        _ON,
    )
    latent_noise: float = decoder_option(
        1.0,
        "variational decoder: factor of the noise ε in training, which the divergence does not "
        "have; with 0 z_j is a mean, and the decoder a deterministic one (default: 1)",
        _ON,
    )


@dataclass
class VariationalLossOptions(FairseqDataclass):
    """The weight of the divergence, and its growth."""

    kl_weight: float = option(
        1.0, "variational decoder: weight of KL(q ∥ p), 1 in the bound (default: 1)"
    )
    kl_warmup: int = option(
        2000,
        "variational decoder: updates in which the weight of KL grows linearly from 0 (default: "
        "2000, as the authors' --wkl; its shape there is not known)",
    )
    free_nats: float = option(
        0.0,
        "variational decoder: λ, nats of KL of a token that cost nothing, max(λ, KL) (default: 0)",
    )
