#!/usr/bin/env bash
# Multi30k German→English with chunks of the English side: the paper's systems, width 256, after the
# same updates.
#
#   bash examples/bi_scale/multi30k.sh MULTI30K STANZA [FOLDER]    (default: outputs/multi30k_rnn)
#
# MULTI30K has train, val and test_2016_flickr (.en and .de, may end in .gz); STANZA has the English
# tagger and chunker (see preprocess/README.md). Half an hour a system on one core. A FOLDER of
# examples/relation/multi30k.sh serves as well: what is there is not made again.
set -euo pipefail
raw=$(realpath "${1:?usage: multi30k.sh MULTI30K STANZA [FOLDER]}")
stanza=$(realpath "${2:?usage: multi30k.sh MULTI30K STANZA [FOLDER]}")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=${3:-outputs/multi30k_rnn}
. examples/environment.sh
. examples/tiny_settings.sh
source=de target=en
. examples/multi30k_settings.sh

prepare_multi30k --stanza-dir "$stanza" --no-parse --chunks tagger
dl4mt=(--arch rnn_search_cgru --criterion label_smoothed_cross_entropy)
bi_scale=(--arch bi_scale_rnn --load-chunks --criterion chunk_cross_entropy)
multi30k_rnn_system rnn_search_cgru "${dl4mt[@]}"
multi30k_rnn_system rnn_search_cgru-2 "${dl4mt[@]}" --decoder-layers 2
multi30k_rnn_system bi_scale "${bi_scale[@]}"
multi30k_rnn_system bi_scale-step "${bi_scale[@]}" --chunk-context step
multi30k_rnn_system bi_scale-word "${bi_scale[@]}" --chunk-attention word
compare_multi30k rnn_search_cgru rnn_search_cgru-2 bi_scale bi_scale-step bi_scale-word

pieces=(--bpe sentencepiece --sentencepiece-model "$folder/prepared/sentencepiece.model")
for system in bi_scale bi_scale-step bi_scale-word; do
  echo "$system"
  syntax-nmt chunks "$data" --path "$folder/$system/checkpoint_best.pt" --cpu \
    --source "$folder/prepared/words/test.de" --target "$folder/prepared/words/test.en" \
    "${pieces[@]}" --score "$folder/prepared/words/test.en.chunks" \
    --output "$folder/$system.chunks" --json "$folder/$system.chunks.json"
done
