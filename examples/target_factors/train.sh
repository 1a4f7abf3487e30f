#!/usr/bin/env bash
# Trains a Transformer that predicts columns of the target beside its words (target factors).
#
#   bash examples/target_factors/train.sh DATABIN SAVEDIR [OPTION of fairseq-train …]
#
# Later options override the ones below. Systems (see README.md):
#   before the word  --target-factor-shift predict
#   a second task    --target-factor-inputs none
#   no loss          --target-factor-weight 0
#   Transformer      --arch syntax_transformer_wmt_en_de --criterion label_smoothed_cross_entropy
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/../training.sh"

own_of_arch factor_transformer --target-factors upos,deprel --load-target-features upos,deprel
own_of_criterion factor_cross_entropy --target-factor-weight 1
train --arch factor_transformer_wmt_en_de --share-all-embeddings \
  --criterion factor_cross_entropy "${base_wmt[@]}"
