#!/usr/bin/env bash
# Trains a Transformer with linguistic features of the source (Sennrich and Haddow, 2016).
#
#   bash examples/linguistic_features/train.sh DATABIN SAVEDIR [OPTION of fairseq-train …]
#
# Later options override the ones below. Systems (see README.md):
#   lemmas, too      --source-features lemma,upos,deprel,subword --load-features lemma,upos,deprel
#   no annotation    --source-features subword
#   concatenated     --feature-merge concat --feature-dims 10,10,5
#   overwritten      --feature-merge overwrite --feature-dims 10,10,5
#   Transformer      --arch syntax_transformer_wmt_en_de
set -euo pipefail
data=${1:?usage: train.sh DATABIN SAVEDIR [OPTION …]}
save=${2:?usage: train.sh DATABIN SAVEDIR [OPTION …]}
shift 2

# What only features know is left out for another architecture; vectors beside those of the words
# leave the source a table of its own.
features=(--source-features upos,deprel,subword --load-features upos,deprel)
sharing=(--share-all-embeddings)
case " $* " in
  *" --arch"[\ =]feature_transformer*) ;;
  *" --arch"[\ =]*) features=() ;;
esac
case " $* " in
  *" --feature-merge"[\ =]concat" "*) sharing=(--share-decoder-input-output-embed) ;;
esac

exec fairseq-train "$data" --user-dir "$(syntax-nmt user-dir)" --task syntax_translation \
  --arch feature_transformer_wmt_en_de "${sharing[@]}" \
  --criterion label_smoothed_cross_entropy --label-smoothing 0.1 --dropout 0.1 \
  --optimizer fused_adam --adam-betas '(0.9, 0.98)' --adam-eps 1e-9 --clip-norm 0 \
  --lr 7e-4 --lr-scheduler inverse_sqrt --warmup-updates 4000 --warmup-init-lr 1e-7 \
  --max-tokens 4096 --update-freq 8 --max-update 100000 \
  --save-interval-updates 1500 --keep-interval-updates 5 --no-epoch-checkpoints \
  --save-dir "$save" ${features[@]+"${features[@]}"} "$@"
