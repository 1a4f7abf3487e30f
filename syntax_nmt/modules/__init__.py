"""Building blocks, one idea a file; they take numbers and modules, never options.

Shapes are written with one notation everywhere: B sentences, S source length, T target length,
P phrases of a sentence, C model width, H heads, D = C/H width of a head, L layers. Inside a
Transformer fairseq keeps time first (S×B×C); what leaves it is batch first.
"""
