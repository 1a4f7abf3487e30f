#!/usr/bin/env bash
# Trains a system of Bugliarello and Okazaki (2020) with a setting of their released code.
#
#   bash examples/parent_scaled/train.sh DATABIN SAVEDIR [OPTION of fairseq-train …]
#
# Later options override the ones below. Rows of the released code (see README.md):
#   WMT17 En-De    --parent-scaled-heads 7 --parent-ignoring 0.3
#   NC11 En-De     --parent-scaled-heads 2 --parent-ignoring 0.4
#   Transformer    --arch syntax_transformer_wmt_en_de
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/../training.sh"

own_of_arch pascal_transformer --parent-scaled-layer 0 --load-dependencies
train --arch pascal_transformer_wmt_en_de --share-all-embeddings \
  --criterion label_smoothed_cross_entropy "${base_wmt[@]}"
