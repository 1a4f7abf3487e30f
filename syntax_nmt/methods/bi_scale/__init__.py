"""The chunk-based bi-scale decoder (Zhou et al., ACL 2017).

A word state, a conditional GRU, changes at every word. A chunk state changes only where the
boundary gate, or in training the annotation, begins a chunk.

| paper | here |
|---|---|
| section 3: the chunk state p, its representation e and context pc | `chunk_clock.ChunkClock` |
| equation 8: P(b_t), the boundary gate | `chunk_clock.BoundaryGate` |
| section 3: the word state s, which reads p | `recurrence.BiScaleGRU` |
| output, and the score of a search with boundaries and tags | `decoder.BiScaleDecoder` |
| section 4: the type of a chunk | `decoder.ChunkTagClassifier` |
| section 4: losses of boundaries and tags | `loss.ChunkObjective` |
"""
