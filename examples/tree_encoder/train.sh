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
data=${1:?usage: train.sh DATABIN SAVEDIR [OPTION …]}
save=${2:?usage: train.sh DATABIN SAVEDIR [OPTION …]}
shift 2

exec fairseq-train "$data" --user-dir "$(syntax-nmt user-dir)" --task syntax_translation \
  --arch tree_coverage_rnn_nist_zh_en --load-trees \
  --criterion label_smoothed_cross_entropy --label-smoothing 0 --sentence-avg \
  --optimizer adadelta --lr 1.0 --lr-scheduler fixed --adadelta-rho 0.95 --adadelta-eps 1e-6 \
  --clip-norm 1.0 --batch-size 80 --max-epoch 30 --patience 5 --keep-last-epochs 5 \
  --save-dir "$save" "$@"
