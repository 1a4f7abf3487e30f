#!/usr/bin/env bash
# Trains a Transformer with structural positions (Wang et al., 2019), with the settings of Vaswani et
# al. (2017); the paper's own were not at hand.
#
#   bash examples/structural_positions/train.sh DATABIN SAVEDIR [OPTION of fairseq-train …]
#
# Later options override the ones below. Other systems (see README.md):
#   Transformer    --arch syntax_transformer
#   one of both    --structural-positions absolute, or relative
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/../training.sh"

own_of_arch structural_transformer --load-dependencies
train --arch structural_transformer --share-all-embeddings \
  --criterion label_smoothed_cross_entropy "${base[@]}" --max-update 60000 --no-epoch-checkpoints
