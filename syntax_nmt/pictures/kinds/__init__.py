"""The kinds of pictures that `syntax-nmt plot` draws: their options, and what they are made from.

A module has `add_arguments(parser)` and `figure(args)`, which alone loads matplotlib.
"""
