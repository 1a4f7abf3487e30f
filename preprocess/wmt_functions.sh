# Sourced by the recipes of WMT's data: the test sets of each year, and what training texts have in
# common. It reads recipe_functions.sh, whose functions these call.
# shellcheck shell=bash

. "$(dirname "${BASH_SOURCE[0]}")/recipe_functions.sh"

# other_lang: the language that is not English.
other_lang() { if [ "$source_lang" = en ]; then echo "$target_lang"; else echo "$source_lang"; fi; }

# newstest YEAR: WMT's test set of a year, source and target in path[newstestYEAR.src|ref].
# Addresses and checksums are those that sacrebleu goes by; 2014's is the full set.
newstest() {
  local year=$1 source target url=https://statmt.org/wmt${1#20}/test.tgz md5 names
  source=newstest$year-$source_lang$target_lang-src.$source_lang.sgm
  target=newstest$year-$source_lang$target_lang-ref.$target_lang.sgm
  case $year in
    2012) md5=608232d34ebc4ba2ff70fead45674e47 ;;
    2013) md5=48eca5d02f637af44e85186847141f67 ;;
    2014) md5=a8cd784e006feb32ac6f3d9ec7eb389a url=https://statmt.org/wmt14/test-full.tgz ;;
    2015) md5=67e3beca15e69fe3d36de149da0a96df ;;
    2016) md5=3d809cd0c2c86adb2c67034d15c4e446 ;;
    2017) md5=86a1724c276004aa25455ae2a04cef26 ;;
  esac
  case $year in
    2012 | 2013) # sources in every language
      source=newstest$year-src.$source_lang.sgm
      target=newstest$year-src.$target_lang.sgm
      ;;
    2014) # named after the other language first, in both directions
      source=newstest2014-$(other_lang)en-src.$source_lang.sgm
      target=newstest2014-$(other_lang)en-ref.$target_lang.sgm
      ;;
    2016 | 2017) url=https://data.statmt.org/wmt${year#20}/translation-task/test.tgz ;;
  esac
  names=wmt${year#20}/$(basename "$url")
  [ "$year" != 2014 ] || names+='|test-full.tgz' # no other year has a file of that name
  archive "$names" "$url" "$md5" "$source" "$target"
  path[newstest$year.src]=${path[$source]} path[newstest$year.ref]=${path[$target]}
}

# news_text SET YEAR …: corpus/SET.LANG out of the test sets of these years, one after another.
news_text() {
  marked_up sgm "$1" "$(printf 'newstest%s.src ' "${@:2}")" "$(printf 'newstest%s.ref ' "${@:2}")"
}

# wmt_part ARCHIVE URL STEM [LINES [ENDING]]: STEM.LANG and the ending, of both languages, as a part
# of the training text.
wmt_part() {
  local source=$3.$source_lang${5-} target=$3.$target_lang${5-}
  archive "$1" "$2" - "$source${4:+:$4}" "$target${4:+:$4}"
  training_sources+=" $source" training_targets+=" $target"
}

# europarl_and_commoncrawl: what all years of WMT train on, besides news commentary.
europarl_and_commoncrawl() {
  local pair europarl='' commoncrawl=''
  pair=$(other_lang)-en
  case $pair in
    de-en) europarl=1920209 commoncrawl=2399123 ;;
    fr-en) europarl=2007723 ;;
  esac
  training_sources='' training_targets=''
  local url=https://www.statmt.org/wmt13/training-parallel
  wmt_part training-parallel-europarl-v7.tgz "$url-europarl-v7.tgz" "europarl-v7.$pair" "$europarl"
  wmt_part training-parallel-commoncrawl.tgz "$url-commoncrawl.tgz" "commoncrawl.$pair" \
    "$commoncrawl"
}
