#!/usr/bin/env bash
# Multi30k English→German: fairseq's transformer and latent_phrase_transformer with the rank
# constraint after the same updates.
#
#   bash examples/latent/multi30k.sh MULTI30K [FOLDER]    (default: outputs/multi30k_latent)
#
# MULTI30K has train, val and test_2016_flickr (.en and .de, may end in .gz). An hour a system on
# one core.
set -euo pipefail
raw=$(realpath "${1:?usage: multi30k.sh MULTI30K [FOLDER]}")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=${2:-outputs/multi30k_latent}
. examples/environment.sh
. examples/tiny_settings.sh
source=en target=de
. examples/multi30k_settings.sh

prepare_multi30k --no-parse
train_stock_on_multi30k
train_once "$folder/rank.log" "${multi30k_transformer[@]}" --task syntax_translation \
  --arch latent_phrase_transformer --criterion synchronous_cross_entropy --save-dir "$folder/rank"
translate_stock_multi30k
translate_multi30k rank --task syntax_translation
compare_multi30k stock rank
