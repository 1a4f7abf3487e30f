"""What tests know of the methods beside what these declare; without an entry, nothing.

The names are those of methods and of recipes (`TrainingRecipe.name`).
"""


def _split(texts):
    """Options as tuples."""
    return {name: tuple(text.split()) for name, text in texts.items()}


ENABLING_OPTIONS = _split(
    {
        "linguistic features": "--source-features=subword",
        "bi-scale decoders": "--bi-scale",
        "latent phrases": "--latent-phrase-layers=2",
        "phrases": "--phrase-segmentation=ngram --phrase-attention",
        "supervised heads": "--supervised-layer=-1 --target-supervised-layer=0",
        "parsers in attention": "--lisa-layer=0",
        "tree regularization": "--tree-reg-layer=-1 --target-tree-reg-layer=-1",
        "relation networks": "--relation-kernels=3:16",
    }
)
"""They add a method to a mixed model."""

TRIALS = {
    "linguistic features": _split(
        {
            "feature_transformer+overwrite": (
                "feature_transformer --feature-merge=overwrite --feature-dims=3,2,2"
            ),
            "feature_transformer+concat": (
                "feature_transformer --feature-merge=concat --feature-dims=3,2,2"
            ),
        }
    ),
    "target factors": _split(
        {
            "factor_transformer+predict": (
                "factor_transformer --target-factors=xpos,chunk --target-factor-shift=predict "
                "--target-factor-dropout=0"
            ),
            "syntax_transformer+factors": (
                "syntax_transformer --target-factors=upos,deprel --target-factor-inputs=none"
            ),
            "factor_rnn+predict": (
                "factor_rnn --target-factor-shift=predict --decoder-layers=2 "
                "--target-factor-dropout=0"
            ),
            "bi_scale_rnn+factors": (
                "bi_scale_rnn --target-factors=upos,deprel --target-factor-dropout=0"
            ),
            "syntax_hybrid+factors": (
                "syntax_hybrid_tiny --target-factors=deprel --target-factor-dropout=0"
            ),
            "syntax_hybrid+factors_of_transformer": (
                "syntax_hybrid_tiny --encoder-family=rnn --decoder-family=transformer "
                "--target-factors=upos,deprel --target-factor-dropout=0"
            ),
            "variational_rnn+factors": (
                "variational_rnn --latent-dim=3 --target-factors=upos --latent-from=prior "
                "--latent-noise=0 --target-factor-dropout=0"
            ),
        }
    ),
    "position biases": _split(
        {
            "syntax_transformer+decay": "syntax_transformer --position-bias=decay",
            "syntax_transformer+alibi": (
                "syntax_transformer --position-bias=alibi --no-token-positional-embeddings"
            ),
            "syntax_transformer+t5": "syntax_transformer --position-bias=t5",
        }
    ),
    "structural positions": _split(
        {
            "structural_transformer+add": (
                "structural_transformer --structural-positions=absolute --structural-fusion=add"
            ),
            "structural_transformer+lca": (
                "structural_transformer --structural-positions=relative "
                "--structural-rule=lca --structural-clip=2"
            ),
        }
    ),
    "parent-scaled heads": _split(
        {
            "pascal_transformer+some": "pascal_transformer --parent-scaled-heads=3",
        }
    ),
    "distances in the tree": _split(
        {
            "syntax_transformer+tree_linear": "syntax_transformer --tree-distance=linear",
            "syntax_transformer+tree_exp": (
                "syntax_transformer --tree-distance=exp --tree-distance-layers=1"
            ),
            "syntax_transformer+tree_alibi": (
                "syntax_transformer --tree-distance=alibi --tree-distance-strength=0.5"
            ),
        }
    ),
    "bi-scale decoders": _split(
        {
            "bi_scale_rnn+words": (
                "bi_scale_rnn --chunk-attention=word --no-joint-score --decoder-layers=2"
            ),
            "bi_scale_rnn+boundary": "bi_scale_rnn --chunk-context=boundary --chunk-readout=both",
        }
    ),
    "variational decoders": _split(
        {
            "variational_rnn+prior": (
                "variational_rnn --latent-from=prior --latent-dim=3 --decoder-layers=2"
            ),
        }
    ),
    "latent phrases": _split(
        {
            "latent_phrase_transformer+t5+window": (
                "latent_phrase_transformer --position-bias=t5 --local-attention-window=3"
            ),
            "latent_phrase_transformer+sigmoid": (
                "latent_phrase_transformer --syntactic-distance-gate=sigmoid "
                "--syntactic-distance-temperature=10"
            ),
        }
    ),
    "local attention": _split(
        {"syntax_transformer+window": "syntax_transformer --local-attention-window=2"}
    ),
    "constituents in attention": _split(
        {
            "constituent_transformer+all": (
                "constituent_transformer --constituent-mask=all --position-bias=t5 "
                "--constituent-embeddings=vertical --encoder-normalize-before"
            ),
            "constituent_transformer+plain": "constituent_transformer --constituent-values=plain",
            "constituent_transformer+encoder": (
                "constituent_transformer --constituent-attention=encoder --constituent-mask=all "
                "--constituent-embeddings=none --parent-scaled-layer=0 --parent-scaled-heads=2"
            ),
        }
    ),
    "phrases": _split(
        {
            "phrase_transformer+parsed": "phrase_transformer --phrase-segmentation=parsed",
            "phrase_transformer+mean": "phrase_transformer --phrase-summary=mean",
            "phrase_transformer+parsed+mean": (
                "phrase_transformer --phrase-segmentation=parsed --phrase-summary=mean "
                "--encoder-normalize-before"
            ),
        }
    ),
    "supervised heads": _split(
        {
            "dependency_transformer+target": (
                "dependency_transformer --target-supervised-layer=-1 "
                "--target-dependency-shift=predict --decoder-normalize-before"
            ),
            "dependency_transformer+labels": (
                "dependency_transformer --target-supervised-layer=0 --dependency-labels=full"
            ),
        }
    ),
    "parsers in attention": _split(
        {
            "lisa_transformer+inject": "lisa_transformer --lisa-inject",
            "lisa_transformer+wide": (
                "lisa_transformer --lisa-dim=24 --lisa-layer=-1 --encoder-normalize-before"
            ),
            "lisa_transformer+narrow": "lisa_transformer --lisa-dim=2 --supervised-layer=-1",
            "lisa_transformer+labels": (
                "lisa_transformer --dependency-labels=universal --encoder-normalize-before"
            ),
        }
    ),
    "tree regularization": _split(
        {
            "syntax_transformer+target_tree_reg": (
                "syntax_transformer --target-tree-reg-layer=0 --tree-reg-share=1 "
                "--decoder-normalize-before"
            ),
        }
    ),
    "relation networks": _split(
        {
            "relation_rnn+released": (
                "relation_rnn --relation-parallel-convolutions "
                "--relation-norm-before-activation --relation-dense-embedding"
            ),
            "syntax_transformer+relation": "syntax_transformer --relation-kernels=3:16",
        }
    ),
    "tree orders": _split(
        {
            "tree_order_rnn+concat": "tree_order_rnn --tree-order-fusion=concat",
            "tree_order_rnn+child": "tree_order_rnn --tree-order-encoder=child",
            "syntax_hybrid+tree_orders": (
                "syntax_hybrid_tiny --encoder-family=rnn --decoder-family=transformer "
                "--tree-order-encoder=head"
            ),
        }
    ),
    "graph convolution": _split(
        {
            "gcn_transformer+bottom": (
                "gcn_transformer --gcn-placement=bottom --gcn-pieces=all --gcn-labels=universal"
            ),
            "gcn_transformer+dense": (
                "gcn_transformer --gcn-skip=dense --gcn-labels=none --gcn-no-gates "
                "--encoder-normalize-before"
            ),
            "gcn_rnn+in": "gcn_rnn --gcn-arcs=in --gcn-layers=1 --gcn-placement=bottom",
            "gcn_rnn+none": "gcn_rnn --gcn-arcs=none",
        }
    ),
    "tree encoders": _split(
        {
            "tree_coverage_rnn+word": (
                "tree_coverage_rnn --tree-coverage=word --coverage-dim=3 --decoder-layers=2"
            ),
            "tree_coverage_rnn+words": (
                "tree_coverage_rnn --tree-coverage=none --tree-attention=words"
            ),
            "tree2seq_rnn+words": "tree2seq_rnn --tree-attention=words",
            "syntax_hybrid+tree": (
                "syntax_hybrid_tiny --encoder-family=rnn --decoder-family=transformer "
                "--tree-encoder=bidirectional"
            ),
        }
    ),
}
"""Architectures with options that no preset asks for, by names of their own."""

FINDS_WORDS = (
    "linguistic features",
    "structural positions",
    "parent-scaled heads",
    "distances in the tree",
    "tree orders",
    "graph convolution",
)
"""Methods that find the words of subwords: tests then cut words into several."""

FINDS_ENDS = ("linguistic features", "parent-scaled heads")
"""Those of them that also read where words end."""

IN_SMALL = _split(
    {
        "pascal_transformer": "--parent-scaled-heads 3",
        "latent_phrase_transformer": "--sync-weight 0.5",
    }
)
"""With these a small model shows all parts of a method."""

NARROW = _split(
    {
        "feature_rnn": "--feature-dims=3,2,2,2",
        "variational_rnn": "--latent-dim=3",
        "relation_rnn": "--relation-hidden-dim=16",
    }
)
"""Of models whose embeddings are 16 wide."""

SILENT = _split(
    {
        "factor_transformer": "--target-factor-dropout 0",
        "factor_rnn": "--target-factor-dropout 0",
        "pascal_transformer": "--parent-ignoring 0",
        "variational_rnn": "--latent-from=prior --latent-noise=0",
        "gcn_transformer": "--gcn-edge-dropout 0",
        "gcn_rnn": "--gcn-edge-dropout 0",
    }
)
"""They silence randomness in training, as those of dropout do."""

BY_HEART = _split(
    {
        name: "--target-factor-inputs=none --target-factor-dropout=0.1"
        for name in ("factor_transformer", "factor_rnn")
    }
)
"""With them, the translation loss alone teaches all that a search reads. Dropout has its default
again, because another one is refused where nothing is read."""

SCORES_JOINTLY = ("bi_scale_rnn",)
"""A search also scores what their decoders choose beside words."""

BATCH_NORM = ("relation_rnn",)
"""Their batch norms see the batches of all workers as one."""
