"""The options of the Transformer family beyond those of fairseq's own `transformer`."""

from dataclasses import dataclass

from syntax_nmt.methods.dependency_heads.options import DependencyHeadOptions
from syntax_nmt.methods.latent_phrases.options import LatentPhraseOptions
from syntax_nmt.methods.parent_scaled.options import ParentScaledOptions
from syntax_nmt.methods.phrases.options import PhraseOptions
from syntax_nmt.methods.position_bias.options import PositionBiasOptions


@dataclass
class SyntaxTransformerOptions(
    # the last comes first in `--help`
    PositionBiasOptions,
    ParentScaledOptions,
    LatentPhraseOptions,
    PhraseOptions,
    DependencyHeadOptions,
):
    """Every feature is off by default; with all of them off the model is the stock Transformer."""
