#!/usr/bin/env bash
# Trains a system of Wang et al. (2019) with the paper's settings.
#
#   bash examples/dependency/train.sh DATABIN SAVEDIR [OPTION of fairseq-train …]
#
# Later options override the ones below. Rows of the paper's tables (see README.md):
#   +CSH           --parent-weight 0
#   +PSH           --child-weight 0
#   Transformer    --arch syntax_transformer_wmt_en_de --criterion label_smoothed_cross_entropy
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/../training.sh"

# One model a GPU, α = β = 0.4, the top layer (section 4.1).
own_of_criterion dependency_cross_entropy \
  --supervised-layer -1 --load-dependencies --child-weight 0.4 --parent-weight 0.4
train --arch dependency_transformer_wmt_en_de --share-all-embeddings \
  --criterion dependency_cross_entropy "${base_wmt[@]}"
