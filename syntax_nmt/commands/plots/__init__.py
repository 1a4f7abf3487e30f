"""The kinds of pictures that `syntax-nmt plot` draws: their options and data.

A module has `add_arguments(parser)` and `figure(args)`. It loads matplotlib, so it is imported only
when its kind is asked for.
"""
