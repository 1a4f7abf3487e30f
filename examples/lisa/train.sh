#!/usr/bin/env bash
# Trains linguistically informed self-attention with settings of the code that Bugliarello and Okazaki
# (2020) released, but with the right loss (see README.md).
#
#   bash examples/lisa/train.sh DATABIN SAVEDIR [OPTION of fairseq-train …]
#
# Later options override the ones below. Other systems:
#   as published   --lisa-attention gold --lisa-dim 500
#   Transformer    --arch syntax_transformer_wmt_en_de --criterion label_smoothed_cross_entropy
set -euo pipefail
data=${1:?usage: train.sh DATABIN SAVEDIR [OPTION …]}
save=${2:?usage: train.sh DATABIN SAVEDIR [OPTION …]}
shift 2

# What only the parser knows is left out for another criterion.
parser=(--lisa-layer 0 --load-dependencies --parse-weight 1.0)
case " $* " in
  *" --criterion"[\ =]lisa_cross_entropy" "* | *" --criterion"[\ =]syntax_cross_entropy" "*) ;;
  *" --criterion"[\ =]*) parser=() ;;
esac

exec fairseq-train "$data" --user-dir "$(syntax-nmt user-dir)" --task syntax_translation \
  --arch lisa_transformer_wmt_en_de --share-all-embeddings \
  --criterion lisa_cross_entropy --label-smoothing 0.1 --dropout 0.1 \
  --optimizer fused_adam --adam-betas '(0.9, 0.98)' --adam-eps 1e-9 --clip-norm 0 \
  --lr 7e-4 --lr-scheduler inverse_sqrt --warmup-updates 8000 --warmup-init-lr 1e-7 \
  --max-tokens 4096 --update-freq 2 --max-update 100000 --no-epoch-checkpoints \
  --save-dir "$save" ${parser[@]+"${parser[@]}"} "$@"
