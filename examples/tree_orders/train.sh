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
. "$(dirname -- "${BASH_SOURCE[0]}")/../training.sh"

train --arch tree_order_rnn_nist_zh_en --load-dependencies \
  --criterion label_smoothed_cross_entropy "${adadelta[@]}" --batch-size 80
