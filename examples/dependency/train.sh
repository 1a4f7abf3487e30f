#!/usr/bin/env bash
# Trains and scores a system of Wang et al. (2019) with the paper's settings.
#
#   bash examples/dependency/train.sh DATABIN SAVEDIR [OPTION of fairseq-train …]
#
# Later options override the ones below. Rows of the paper's tables (see README.md):
#   +CSH           --parent-weight 0
#   +PSH           --child-weight 0
#   Transformer    --arch syntax_transformer_wmt_en_de --criterion label_smoothed_cross_entropy
set -euo pipefail
data=${1:?usage: train.sh DATABIN SAVEDIR [OPTION …]}
save=${2:?usage: train.sh DATABIN SAVEDIR [OPTION …]}
shift 2

# What only supervised heads know is left out for another criterion.
heads=(--supervised-layer -1 --load-dependencies --child-weight 0.4 --parent-weight 0.4)
case " $* " in
  *" --criterion"[\ =]dependency_cross_entropy" "* | *" --criterion"[\ =]syntax_cross_entropy" "*) ;;
  *" --criterion"[\ =]*) heads=() ;;
esac

# "The base setting of Vaswani et al.", one model a GPU, α = β = 0.4, the top layer (section 4.1).
exec fairseq-train "$data" --user-dir "$(syntax-nmt user-dir)" --task syntax_translation \
  --arch dependency_transformer_wmt_en_de --share-all-embeddings \
  --criterion dependency_cross_entropy --label-smoothing 0.1 --dropout 0.1 \
  --optimizer fused_adam --adam-betas '(0.9, 0.98)' --adam-eps 1e-9 --clip-norm 0 \
  --lr 7e-4 --lr-scheduler inverse_sqrt --warmup-updates 4000 --warmup-init-lr 1e-7 \
  --max-tokens 4096 --update-freq 8 --max-update 100000 \
  --save-interval-updates 1500 --keep-interval-updates 5 --no-epoch-checkpoints \
  --save-dir "$save" ${heads[@]+"${heads[@]}"} "$@"
