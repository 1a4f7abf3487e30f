#!/usr/bin/env bash
# Trains a Transformer with tree regularization (Nandi et al., 2025) of the source, with the settings
# of Vaswani et al. (2017): the paper trains language models.
#
#   bash examples/tree_regularization/train.sh DATABIN SAVEDIR [OPTION of fairseq-train …]
#
# Later options override the ones below. Other systems (see README.md):
#   Transformer    --arch syntax_transformer_wmt_en_de --criterion label_smoothed_cross_entropy
#   both sides     --load-target-trees --target-tree-reg-layer 4
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/../training.sh"

own_of_criterion tree_reg_cross_entropy --load-trees --tree-reg-weight 0.1
train --arch tree_reg_transformer_wmt_en_de --share-all-embeddings \
  --criterion tree_reg_cross_entropy "${base_wmt[@]}"
