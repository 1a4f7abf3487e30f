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
data=${1:?usage: train.sh DATABIN SAVEDIR [OPTION …]}
save=${2:?usage: train.sh DATABIN SAVEDIR [OPTION …]}
shift 2

# Another architecture needs no parses, unless it is a size of the same.
trees=(--load-dependencies)
case " $* " in
  *" --arch"[\ =]structural_transformer*) ;;
  *" --arch"[\ =]*) trees=() ;;
esac

exec fairseq-train "$data" --user-dir "$(syntax-nmt user-dir)" --task syntax_translation \
  --arch structural_transformer --share-all-embeddings \
  --criterion label_smoothed_cross_entropy --label-smoothing 0.1 --dropout 0.1 \
  --optimizer fused_adam --adam-betas '(0.9, 0.98)' --adam-eps 1e-9 --clip-norm 0 \
  --lr 7e-4 --lr-scheduler inverse_sqrt --warmup-updates 4000 --warmup-init-lr 1e-7 \
  --max-tokens 4096 --max-update 60000 --no-epoch-checkpoints \
  --save-dir "$save" ${trees[@]+"${trees[@]}"} "$@"
