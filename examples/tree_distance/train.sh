#!/usr/bin/env bash
# Trains a Transformer with distances in the dependency tree, with settings of the code that Peng et
# al. (2022) released.
#
#   bash examples/tree_distance/train.sh DATABIN SAVEDIR [OPTION of fairseq-train …]
#
# Later options override the ones below. Other systems (see README.md):
#   Transformer    --arch syntax_transformer_iwslt_de_en
#   a bias         --tree-distance linear
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/../training.sh"

own_of_arch tree_distance_transformer --load-dependencies
train --arch tree_distance_transformer_iwslt_de_en --share-all-embeddings \
  --criterion label_smoothed_cross_entropy "${base[@]}" --max-update 60000 --no-epoch-checkpoints
