#!/usr/bin/env bash
# Trains tree orders, after SE-NMT (Wu et al., 2017), with RNNsearch*'s settings for NIST Zh-En; the
# paper's own were not at hand.
#
#   bash examples/tree_orders/train.sh DATABIN SAVEDIR [OPTION of fairseq-train …]
#
# Later options override the ones below. Parts and controls (see README.md):
#   one order        --tree-order-encoder child, or head
#   RNNsearch*       --arch rnn_search_cgru_nist_zh_en
set -euo pipefail
data=${1:?usage: train.sh DATABIN SAVEDIR [OPTION …]}
save=${2:?usage: train.sh DATABIN SAVEDIR [OPTION …]}
shift 2

exec fairseq-train "$data" --user-dir "$(syntax-nmt user-dir)" --task syntax_translation \
  --arch tree_order_rnn_nist_zh_en --load-dependencies \
  --criterion label_smoothed_cross_entropy --label-smoothing 0 --sentence-avg \
  --optimizer adadelta --lr 1.0 --lr-scheduler fixed --adadelta-rho 0.95 --adadelta-eps 1e-6 \
  --clip-norm 1.0 --batch-size 80 --max-epoch 30 --patience 5 --keep-last-epochs 5 \
  --save-dir "$save" "$@"
