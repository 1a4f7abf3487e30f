"""Parent-scaled self-attention, PASCAL (Bugliarello and Okazaki, ACL 2020).

In one encoder layer, a density centred at the head of the token's word multiplies the logits of
some attention heads. The paper's equations and the code:

| paper | here |
|---|---|
| p_t, the middle of the parent's subwords | `parent_scaling.parent_positions` |
| D[t, j], the normal density at j around p_t | `parent_scaling.ParentScaling` |
| parent ignoring, with probability q in training | `parent_scaling.ParentScaling` |
| N = softmax((Q Kᵀ/√d) ∘ D) V | `factor` of `syntax_nmt.backbone.attention_change` |
"""
