"""Parent-scaled self-attention, PASCAL (Bugliarello and Okazaki, ACL 2020).

In one encoder layer the logits of some heads are multiplied by a density around the middle of the
word that the token's word depends on. The paper's equations, and what computes them:

| paper | here |
|---|---|
| p_t, the middle of the parent's subwords | `parent_scaling.parent_positions` |
| D[t, j], the normal density at j around p_t | `parent_scaling.ParentScaling` |
| parent ignoring, with probability q in training | `parent_scaling.ParentScaling` |
| N = softmax((Q Kᵀ/√d) ∘ D) V | `factor` of `syntax_nmt.backbone.attention_change` |
"""
