#!/usr/bin/env bash
# Multi30k English→German: fairseq's transformer and phrase_transformer, with n-grams and with the
# phrases of a parser, after the same updates.
#
#   bash examples/phrase/multi30k.sh MULTI30K STANZA [FOLDER]    (default: outputs/multi30k_phrases)
#
# MULTI30K has train, val and test_2016_flickr (.en and .de, may end in .gz); STANZA has the English
# tagger and constituency parser (Stanza's own folder, or tagger.pt, constituency.pt and
# con_pretrain.pt). One to two hours a system on one core.
set -euo pipefail
raw=$(realpath "${1:?usage: multi30k.sh MULTI30K STANZA [FOLDER]}")
stanza=$(realpath "${2:?usage: multi30k.sh MULTI30K STANZA [FOLDER]}")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=${3:-outputs/multi30k_phrases}
. examples/environment.sh
. examples/tiny_settings.sh
source=en target=de
. examples/multi30k_settings.sh

parsed=(--phrase-segmentation parsed --load-phrases)
# Twice the usual warm-up, as in the paper.
phrases=(--task syntax_translation --arch phrase_transformer --warmup-updates 1000
  --criterion label_smoothed_cross_entropy)

prepare_multi30k --stanza-dir "$stanza" --no-parse --constituents
train_stock_on_multi30k
train_once "$folder/ngrams.log" "${multi30k_transformer[@]}" "${phrases[@]}" \
  --save-dir "$folder/ngrams"
train_once "$folder/parsed.log" "${multi30k_transformer[@]}" "${phrases[@]}" "${parsed[@]}" \
  --save-dir "$folder/parsed"
translate_stock_multi30k
translate_multi30k ngrams --task syntax_translation
translate_multi30k parsed --task syntax_translation --load-phrases
compare_multi30k stock ngrams parsed
