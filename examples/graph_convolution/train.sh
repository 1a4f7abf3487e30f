#!/usr/bin/env bash
# Trains BiRNN+GCN of Bastings et al. (2017) with the settings of the authors' code, but for layer
# dropout, which it has not, and clipping, which theirs has not (--clip-norm 0).
#
#   bash examples/graph_convolution/train.sh DATABIN SAVEDIR [OPTION of fairseq-train …]
#
# Later options override the ones below. Rows of the paper's tables and controls (see README.md):
#   BiRNN          --gcn-layers 0 --gcn-edge-dropout 0
#   one layer      --gcn-layers 1
#   loops alone    --gcn-arcs none
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/../training.sh"

train --arch gcn_rnn --load-dependencies --load-features deprel \
  --criterion label_smoothed_cross_entropy --label-smoothing 0 \
  --encoder-dropout-in 0.2 --decoder-dropout-in 0.2 --dropout 0.2 \
  --optimizer fused_adam --adam-betas '(0.9, 0.999)' --lr 1e-3 --weight-decay 1e-8 --clip-norm 5 \
  --batch-size 80 --max-epoch 45 --no-epoch-checkpoints
