#!/usr/bin/env bash
# Europarl v7 German-English, as Harada and Watanabe (2021) train on it for their table of word
# alignments (after Chen et al., 2020), tested on the 508 sentences that Vilar et al. (2006)
# aligned by hand.
#
#   bash preprocess/europarl_de_en.sh [--gold DeEnGoldAlignment.tar.gz | --no-gold] [--from DIR]
#     [--destdir DIR] [--source-lang de --target-lang en] [-- OPTIONS OF syntax-nmt prepare]
#
# The gold alignments are handed out after registration at
# www-i6.informatik.rwth-aachen.de/goldAlignment: name the archive with --gold, or have it in the
# folder of --from. They come with words cut the way of Moses, so the training text is cut like
# them, and `prepare` cuts no more. Their sentences are left out of the training text. The
# alignments go to corpus/test.talp (`i-j` sure, `ipj` possible, German first, as published).
# --no-gold: no test set.
# What the paper does not say: 32,000 joint subwords, every 1,900th pair (about 1,000) for
# validation, up to 250 words, a ratio of up to 9.
# Downloads about 190 MB from statmt.org, or takes de-en.tgz, or europarl-v7.de-en.de and .en,
# from DIR. 1,920,209 pairs before cleaning.
# Disk: about 5 GB. Default folder: outputs/europarl_de_en.de-en; the data-bin is in prepared/
# there.

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/recipe_functions.sh"
source_lang=de target_lang=en directions='de-en en-de'
begin no-gold gold "$@"
settings --source-tokenizer none --target-tokenizer none --vocab-size 32000

archive de-en.tgz https://www.statmt.org/europarl/v7/de-en.tgz - \
  europarl-v7.de-en.de:1920209 europarl-v7.de-en.en:1920209
if [ -z "$no_gold" ] && [ -z "$gold" ]; then
  [ -z "$from" ] || gold=$(local_copy DeEnGoldAlignment.tar.gz)
  [ -n "$gold" ] || fail "the gold alignments are missing: DeEnGoldAlignment.tar.gz, after" \
    "registration at www-i6.informatik.rwth-aachen.de/goldAlignment, with --gold or in --from;" \
    "or --no-gold to do without a test set"
fi
have_all

without=() tests=()
if [ -n "$gold" ]; then
  [ -f "$gold" ] || fail "--gold $gold: there is no such file"
  unpack "$gold" de en alignmentDeEn.talp
  marked_up lines test "$source_lang" "$target_lang" --encoding latin-1
  plain_text "$corpus/test.talp" "${path[alignmentDeEn.talp]}"
  [ "$(wc -l <"$corpus/test.talp")" = "$(wc -l <"$corpus/test.de")" ] ||
    fail "$gold: alignmentDeEn.talp and de have different numbers of lines"
  without=(--without "$corpus/test.$source_lang" "$corpus/test.$target_lang") tests=(test)
fi

training_text "europarl-v7.de-en.$source_lang" "europarl-v7.de-en.$target_lang" \
  --source-tokenizer moses --target-tokenizer moses --words "${without[@]}" \
  --max-words 250 --max-ratio 9 --hold-out-every 1900 --hold-out "$corpus/valid"
prepare_corpus "${tests[@]}"
