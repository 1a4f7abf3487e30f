#!/usr/bin/env bash
# Trains a system of Zhang et al. (2018) with the paper's settings for NIST Zh-En.
#
#   bash examples/relation/train.sh DATABIN SAVEDIR [OPTION of fairseq-train …]
#
# Later options override the ones below. Systems of the paper's tables (see README.md):
#   RNNsearch        --arch rnn_search_nist_zh_en
#   RNNsearch*       --arch rnn_search_cgru_nist_zh_en
#   Rnmt             (no option)
#   …, En-De         --arch rnn_search_wmt_en_de, rnn_search_cgru_wmt_en_de, relation_rnn_wmt_en_de
set -euo pipefail
data=${1:?usage: train.sh DATABIN SAVEDIR [OPTION …]}
save=${2:?usage: train.sh DATABIN SAVEDIR [OPTION …]}
shift 2

# Section 5.2: batches of 80 sentences, Adadelta with ρ 0.95 and ε 1e-6; width 512, dropout 0.5 on
# the output layer and the uniform start are the preset's. The released code clips the gradient's
# norm to 1. The loss is a sentence's sum, averaged over the batch, as in the dl4mt tutorial that
# RNNsearch* follows. Neither says when to stop: here at the best validation BLEU. One GPU; with N,
# give --batch-size 80/N.
exec fairseq-train "$data" --user-dir "$(syntax-nmt user-dir)" --task syntax_translation \
  --arch relation_rnn_nist_zh_en \
  --criterion syntax_cross_entropy --label-smoothing 0 --sentence-avg \
  --optimizer adadelta --lr 1.0 --lr-scheduler fixed --adadelta-rho 0.95 --adadelta-eps 1e-6 \
  --clip-norm 1.0 --batch-size 80 --max-epoch 30 --patience 5 \
  --eval-bleu --eval-bleu-args '{"beam": 10, "max_len_a": 2, "max_len_b": 10}' \
  --eval-bleu-remove-bpe sentencepiece --eval-tokenized-bleu \
  --best-checkpoint-metric bleu --maximize-best-checkpoint-metric --keep-last-epochs 5 \
  --save-dir "$save" "$@"
