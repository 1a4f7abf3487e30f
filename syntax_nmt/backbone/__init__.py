"""Code shared by several methods; layers take numbers and modules, never options.

Shapes have the same notation everywhere: B sentences, S source length, T target length, P phrases
of a sentence, N rows (hypotheses, a multiple of B; or the real tokens of a batch), C model width, E
embedding width, M width of annotations, A width of attention, V vocabulary, H heads, D = C/H width
of a head, L layers. Dimensions that only one module has are spelled out. Inside a Transformer
fairseq keeps time first (S×B×C); its outputs are batch first.
"""
