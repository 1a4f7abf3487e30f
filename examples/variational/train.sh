#!/usr/bin/env bash
# Trains VRNMT (Su et al., 2018) with the settings of its authors' page for NIST Zh-En; fairseq has no
# RMSprop, so Adam stands in its place.
#
#   bash examples/variational/train.sh DATABIN SAVEDIR [OPTION of fairseq-train …]
#
# Later options override the ones below. Controls (see README.md):
#   learned noise    --latent-from prior --criterion label_smoothed_cross_entropy
#   RNNsearch*       --arch rnn_search_cgru_nist_zh_en --criterion label_smoothed_cross_entropy
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/../training.sh"

train --arch variational_rnn_nist_zh_en --criterion variational_cross_entropy \
  --label-smoothing 0 --sentence-avg --optimizer adam --lr 5e-4 --lr-scheduler fixed --clip-norm 1.0 \
  --dropout 0.3 --batch-size 80 --max-epoch 8 --keep-last-epochs 5
