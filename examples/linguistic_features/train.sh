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
. "$(dirname -- "${BASH_SOURCE[0]}")/../training.sh"

own_of_arch feature_transformer \
  --source-features upos,deprel,subword --load-features upos,deprel
# Vectors beside those of the words leave the source a table of its own.
sharing=--share-all-embeddings
case " ${given[*]-} " in
  *" --feature-merge"[\ =]"concat "*) sharing=--share-decoder-input-output-embed ;;
esac
train --arch feature_transformer_wmt_en_de "$sharing" \
  --criterion label_smoothed_cross_entropy "${base_wmt[@]}"
