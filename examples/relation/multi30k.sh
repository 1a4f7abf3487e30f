#!/usr/bin/env bash
# Multi30k German→English: the paper's three systems, width 256, after the same updates.
#
#   bash examples/relation/multi30k.sh MULTI30K [FOLDER]    (default: outputs/multi30k_rnn)
#
# MULTI30K has train, val and test_2016_flickr (.en and .de, may end in .gz). Half an hour a system
# on one core. A FOLDER of examples/bi_scale/multi30k.sh serves as well: what is there is not made
# again.
set -euo pipefail
raw=$(realpath "${1:?usage: multi30k.sh MULTI30K [FOLDER]}")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=${2:-outputs/multi30k_rnn}
. examples/environment.sh
. examples/tiny_settings.sh
source=de target=en
. examples/multi30k_settings.sh

[ -f "$data/test.de-en.en.idx" ] || prepare_multi30k --no-parse
plain=(--criterion label_smoothed_cross_entropy)
multi30k_rnn_system rnn_search --arch rnn_search "${plain[@]}"
multi30k_rnn_system rnn_search_cgru --arch rnn_search_cgru "${plain[@]}"
# The relation network in the paper's size for En-De, which fits this width better.
multi30k_rnn_system relation_rnn --arch relation_rnn "${plain[@]}" \
  --relation-kernels 3:96 --relation-hidden-dim 128
compare_multi30k rnn_search_cgru rnn_search relation_rnn
