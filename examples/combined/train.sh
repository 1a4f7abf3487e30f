#!/usr/bin/env bash
# Trains one model with five of the methods, in a size for corpora of some 30,000 sentence pairs.
#
#   bash examples/combined/train.sh DATABIN SAVEDIR [OPTION of fairseq-train …]
#
# Later options override the ones below; parsed phrases: --phrase-segmentation parsed --load-phrases.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/../training.sh"

# The encoder: 3 layers, the top one with supervised heads, all with phrases, the lowest two with
# gates, and a relation network on top. The decoder: a chunk state over a conditional GRU.
train --arch syntax_hybrid --encoder-family transformer --decoder-family rnn \
  --encoder-embed-dim 256 --encoder-ffn-embed-dim 1024 --encoder-layers 3 \
  --encoder-attention-heads 8 --encoder-normalize-before --supervised-layer -1 \
  --load-dependencies --phrase-segmentation ngram --phrase-attention --phrase-combine-dim 768 \
  --latent-phrase-layers 2 --relation-kernels 3:96 --relation-hidden-dim 128 --decoder-embed-dim 256 \
  --decoder-hidden-size 256 --decoder-out-embed-dim 256 --attention-dim 256 --readout tanh \
  --bi-scale --chunk-context step --load-chunks --share-all-embeddings --dropout 0.2 \
  --criterion syntax_cross_entropy --child-weight 0.4 --parent-weight 0.4 --boundary-weight 1 \
  --chunk-tag-weight 1 --label-smoothing 0.1 --optimizer fused_adam \
  --adam-betas '(0.9, 0.98)' --clip-norm 1.0 --lr 1e-3 --lr-scheduler inverse_sqrt \
  --warmup-updates 500 --max-tokens 2048 --max-epoch 8 --no-epoch-checkpoints
