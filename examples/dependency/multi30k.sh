#!/usr/bin/env bash
# Multi30k English→German: fairseq's transformer and dependency_transformer after the same updates.
#
#   bash examples/dependency/multi30k.sh MULTI30K STANZA [FOLDER]    (default: outputs/multi30k)
#
# MULTI30K has train, val and test_2016_flickr (.en and .de, may end in .gz); STANZA has the English
# tagger and parser (Stanza's own folder, or tagger.pt and parser.pt). An hour a system on one core.
set -euo pipefail
raw=$(realpath "${1:?usage: multi30k.sh MULTI30K STANZA [FOLDER]}")
stanza=$(realpath "${2:?usage: multi30k.sh MULTI30K STANZA [FOLDER]}")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=${3:-outputs/multi30k}
. examples/environment.sh
. examples/tiny_settings.sh
source=en target=de
. examples/multi30k_settings.sh

prepare_multi30k --stanza-dir "$stanza"
train_stock_on_multi30k
train_once "$folder/dependency.log" "${multi30k_transformer[@]}" --task syntax_translation \
  --arch dependency_transformer "${dependency_supervision[@]}" --save-dir "$folder/dependency"
translate_stock_multi30k
translate_multi30k dependency --task syntax_translation
compare_multi30k stock dependency
syntax-nmt trees "$data" --path "$folder/dependency/checkpoint_best.pt" \
  --conllu "$folder/prepared/words/test.en.conllu" --output "$folder/test.en.predicted.conllu"
