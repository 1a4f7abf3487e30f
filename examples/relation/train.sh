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
. "$(dirname -- "${BASH_SOURCE[0]}")/../training.sh"

# Section 5.2: batches of 80 sentences, Adadelta with ρ 0.95 and ε 1e-6; width 512, dropout 0.5 on
# the output layer and the uniform start are the preset's. The released code clips the gradient's
# norm to 1, and follows dl4mt, as RNNsearch* does. Neither says when to stop: here at the best
# validation BLEU. One GPU; with N, give --batch-size 80/N.
train --arch relation_rnn_nist_zh_en --criterion syntax_cross_entropy "${adadelta[@]}" \
  --batch-size 80 "${best_by_bleu[@]}" \
  --eval-bleu-args '{"beam": 10, "max_len_a": 2, "max_len_b": 10}'
