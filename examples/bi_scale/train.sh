#!/usr/bin/env bash
# Trains a system of Zhou et al. (2017) with the paper's settings for NIST Zh-En.
#
#   bash examples/bi_scale/train.sh DATABIN SAVEDIR [OPTION of fairseq-train …]
#
# Later options override the ones below. Systems of the paper's tables (see README.md):
#   bi-scale, released code  (no option)
#   …, the paper's text      --chunk-context boundary
#   …, word attention        --chunk-attention word
#   …, De-En                 --arch bi_scale_rnn_wmt_de_en
#   dl4mt                    --arch rnn_search_cgru --criterion label_smoothed_cross_entropy
#   dl4mt-2                  … --decoder-layers 2
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/../training.sh"

own_of_criterion chunk_cross_entropy --load-chunks --boundary-weight 1 --chunk-tag-weight 1

# Section 4: word vectors 600, all other sizes 1000 (those of the preset, repeated for the
# baselines), sentences of up to 50 words, Adadelta. The paper does not tell the rest, which is that
# of the authors' released code (github.com/zhouh/chunk-nmt, train_nmt_zh2en.py, nmt.py and
# translate_gpu.py): no dropout, recurrent matrices orthogonal, other weights N(0, 0.01), biases 0,
# gradients clipped to norm 1, batches of 32 sentences, beam 20; ρ 0.95 and ε 1e-6 are Adadelta's
# there. It stops by hand, here the best validation BLEU counts. One GPU; with N, give --batch-size
# 32/N.
train --arch bi_scale_rnn_nist_zh_en --criterion chunk_cross_entropy \
  --encoder-embed-dim 600 --encoder-hidden-size 1000 --decoder-embed-dim 600 \
  --decoder-hidden-size 1000 --decoder-out-embed-dim 1000 --attention-dim 1000 --readout tanh \
  --dropout 0 --initialization orthogonal "${adadelta[@]}" --batch-size 32 \
  "${best_by_bleu[@]}" --eval-bleu-args '{"beam": 20, "max_len_a": 2, "max_len_b": 10}'
