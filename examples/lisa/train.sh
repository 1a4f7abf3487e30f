#!/usr/bin/env bash
# Trains linguistically informed self-attention with settings of the code that Bugliarello and Okazaki
# (2020) released, but with the right loss (see README.md).
#
#   bash examples/lisa/train.sh DATABIN SAVEDIR [OPTION of fairseq-train …]
#
# Later options override the ones below. Other systems:
#   as published   --lisa-attention gold --lisa-dim 500
#   Transformer    --arch syntax_transformer_wmt_en_de --criterion label_smoothed_cross_entropy
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/../training.sh"

own_of_criterion lisa_cross_entropy --lisa-layer 0 --load-dependencies --parse-weight 1.0
train --arch lisa_transformer_wmt_en_de --share-all-embeddings --criterion lisa_cross_entropy \
  "${base[@]}" --warmup-updates 8000 --update-freq 2 --max-update 100000 --no-epoch-checkpoints
