#!/usr/bin/env bash
# Trains a tree encoder (Chen et al., 2017; Eriguchi et al., 2016) with RNNsearch*'s settings for
# NIST Zh-En.
#
#   bash examples/tree_encoder/train.sh DATABIN SAVEDIR [OPTION of fairseq-train …]
#
# Later options override the ones below. Systems of the papers, parts and controls (see README.md):
#   Tree2Seq            --arch tree2seq_rnn_nist_zh_en
#   word coverage       --tree-coverage word
#   no coverage         --tree-coverage none
#   words alone         --tree-coverage none --tree-attention words
#   RNNsearch*          --arch rnn_search_cgru_nist_zh_en
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/../training.sh"

train --arch tree_coverage_rnn_nist_zh_en --load-trees \
  --criterion label_smoothed_cross_entropy "${adadelta[@]}" --batch-size 80
