#!/usr/bin/env bash
# Trains a Transformer with constituents in attention (Nguyen et al., 2020), with the settings of its
# released script for IWSLT.
#
#   bash examples/constituent_attention/train.sh DATABIN SAVEDIR [OPTION of fairseq-train …]
#
# Later options override the ones below. Other systems (see README.md):
#   Transformer        --arch syntax_transformer_iwslt_de_en
#   as many keys       --constituent-values plain --constituent-mask all
#   no embeddings      --constituent-embeddings none
#   no subtree mask    --constituent-mask all
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/../training.sh"

own_of_arch constituent_transformer --load-trees
train --arch constituent_transformer_iwslt_de_en --share-all-embeddings \
  --criterion label_smoothed_cross_entropy "${base[@]}" --dropout 0.3 --attention-dropout 0.2 \
  --lr 5e-4 --weight-decay 1e-4 --update-freq 2 --max-update 61000 --keep-last-epochs 10
