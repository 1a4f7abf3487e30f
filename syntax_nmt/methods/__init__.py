"""The papers, a folder each: modules, layers, losses and options of its own.

The first lines of each folder say what the paper computes, and where each of its equations is. None
imports another: models combine them, and what several need stands in `syntax_nmt.backbone`.
"""
