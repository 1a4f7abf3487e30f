"""Dependency-supervised self-attention (Wang et al., EMNLP-IJCNLP 2019).

Two heads of one encoder layer, the child head and the parent head, are trained to attend along the
source dependency tree. The method adds no parameters, and translation needs no parse.

| equation | here |
|---|---|
| 1–3, P̂c and P̂p, the attention of the two heads | `loss.supervised_head_log_probabilities` |
| 4, 6: Wc and Lc, the child head's | `loss.child_head_losses` |
| 5, 7: Wp and Lp, the parent head's | `loss.parent_head_losses` |
| 9: α·Lc + β·Lp, added to the translation loss | `loss.DependencyObjective` |
| the supervised layer | `options.supervised_layer` |
"""
