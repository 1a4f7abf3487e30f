"""The chunk-based bi-scale decoder (Zhou et al., 2017)."""
