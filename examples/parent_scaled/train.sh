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
data=${1:?usage: train.sh DATABIN SAVEDIR [OPTION …]}
save=${2:?usage: train.sh DATABIN SAVEDIR [OPTION …]}
shift 2

# What only parent-scaled layers know is left out for another architecture.
parents=(--parent-scaled-layer 0 --load-dependencies)
case " $* " in
  *" --arch"[\ =]pascal_transformer*) ;;
  *" --arch"[\ =]*) parents=() ;;
esac

exec fairseq-train "$data" --user-dir "$(syntax-nmt user-dir)" --task syntax_translation \
  --arch pascal_transformer_wmt_en_de --share-all-embeddings \
  --criterion label_smoothed_cross_entropy --label-smoothing 0.1 --dropout 0.1 \
  --optimizer fused_adam --adam-betas '(0.9, 0.98)' --adam-eps 1e-9 --clip-norm 0 \
  --lr 7e-4 --lr-scheduler inverse_sqrt --warmup-updates 4000 --warmup-init-lr 1e-7 \
  --max-tokens 4096 --update-freq 8 --max-update 100000 \
  --save-interval-updates 1500 --keep-interval-updates 5 --no-epoch-checkpoints \
  --save-dir "$save" ${parents[@]+"${parents[@]}"} "$@"
