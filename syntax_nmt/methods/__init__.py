"""The papers, one folder each, with their own modules, layers, losses and options.

The first lines of each folder say what the paper computes and where each equation is. No folder
imports another: models combine them, and shared code is in `syntax_nmt.backbone`.
"""
