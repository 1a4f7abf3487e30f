#!/usr/bin/env bash
# Trains a system of Harada and Watanabe (2021) with the settings for IWSLT14 German-English.
#
#   bash examples/latent/train.sh DATABIN SAVEDIR [OPTION of fairseq-train …]
#
# Later options override the ones below. Rows of the paper's tables (see README.md):
#   Transformer            --arch syntax_transformer_iwslt_de_en
#                          --criterion label_smoothed_cross_entropy
#   +LPSI                  --criterion label_smoothed_cross_entropy
#   +LPSI +MSE             --sync-loss mse
#   +LPSI +Rank            (no option)
#   synchronous attention  --arch syntax_transformer_iwslt_de_en --sync-loss attention
# ASPEC Japanese-English: the same with _wmt_en_de in place of _iwslt_de_en.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/../training.sh"

# Two induction layers, two constrained layers, M = 5, τ = 1 and λ = 0.01 are the defaults. The
# paper does not print the rest; these are fairseq's own for IWSLT14 De-En.
train --arch latent_phrase_transformer_iwslt_de_en --share-decoder-input-output-embed \
  --criterion synchronous_cross_entropy --label-smoothing 0.1 --dropout 0.3 --weight-decay 1e-4 \
  --optimizer fused_adam --adam-betas '(0.9, 0.98)' --clip-norm 0 \
  --lr 5e-4 --lr-scheduler inverse_sqrt --warmup-updates 4000 \
  --max-tokens 4096 --max-epoch 60 --keep-last-epochs 5
