"""Phrase representation (Xu et al., ACL 2020).

Every encoder and decoder layer also attends to phrases of the source. Each encoder layer computes
their vectors from the tokens that it reads.

| equation | here |
|---|---|
| section 3: n-grams; phrases of a tree, Algorithm 1 | `segmentation`; `syntax_nmt.data.phrases` |
| 2–5: summary, scores, weights, phrase vector | `representation.PhraseRepresentation` |
| 6: a mixture of all encoder layers (+TA) | `transparent_attention.TransparentAttention` |
| 7, 8: attention to phrases, combined with the tokens | `combination.AttentiveCombination` |
| attention to a memory as short as phrases are | `mapped_attention.MappedAttention` |
| the order of the sublayers, of encoder and decoder | `layers` |
| the phrases that the decoder reads | `memory.PhraseMemory` |
"""
