#!/usr/bin/env bash
# Trains a system of Xu et al. (2020) with the paper's settings for Transformer Base, En-De.
#
#   bash examples/phrase/train.sh DATABIN SAVEDIR [OPTION of fairseq-train …]
#
# Later options override the ones below. Rows of the paper's tables (see README.md):
#   Transformer Base      --arch syntax_transformer_wmt_en_de
#   +Mean                 --arch syntax_transformer_wmt_en_de --phrase-segmentation ngram
#                         --phrase-combine-dim 1536 --phrase-summary mean
#   +Max                  --arch syntax_transformer_wmt_en_de --phrase-segmentation ngram
#                         --phrase-combine-dim 1536
#   +Max+Attn             … --phrase-attention
#   +Max+Attn+TA          (no option)
#   … +Parsing Phrase     --phrase-segmentation parsed --load-phrases
#   Transformer Big +PR   --arch phrase_transformer_wmt_en_de_big --dropout 0.3 --lr 3.49e-4
#                         --max-update 300000 --keep-interval-updates 20
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/../training.sh"

# Section 4.1: up to 256 subwords, warm-up 8k, at least 25k target tokens a batch, dropout 0.1, 100k
# updates, source and target embeddings apart, checkpoints every 1,500 updates; the rest as Vaswani
# et al. (2017), whose learning rate peaks at 512^-0.5 · 8000^-0.5 (Big: 1024^-0.5 · 8000^-0.5).
train --arch phrase_transformer_wmt_en_de --share-decoder-input-output-embed \
  --criterion syntax_cross_entropy "${base_wmt[@]}" --lr 4.94e-4 --warmup-updates 8000 \
  --max-source-positions 256 --max-target-positions 256 --skip-invalid-size-inputs-valid-test
