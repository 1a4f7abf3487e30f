# Sourced by the dataset recipes of this folder: options, local copies, downloads, checks,
# unpacking, joining and cleaning, and the final call of `syntax-nmt prepare`.
#
# Every step writes under another name first and is remembered by what it was made from, so that a
# recipe that was interrupted resumes, and one whose input changed starts from there.
# Needs bash 4.4, coreutils, tar, gzip, curl or wget, and the environment that syntax_nmt is in.
# shellcheck shell=bash

RECIPE=$(basename "$0")
export RECIPE # errors of the commands below begin with it

fail() {
  echo "$RECIPE: error: $*" >&2
  exit 1
}

say() { printf '%s\n' "$*"; }

# ---- options

# begin FLAGS VALUES "$@": reads the options; FLAGS and VALUES list those that only this recipe has.
# The recipe has set source_lang, target_lang and directions before, as in directions="de-en en-de".
begin() {
  local flags=$1 values=$2 name
  shift 2
  from='' destdir='' prepare_options=()
  for name in $flags $values; do printf -v "${name//-/_}" ''; done
  while [ $# -gt 0 ]; do
    name=${1#--}
    case $1 in
      -h | --help) show_help; exit 0 ;;
      --) shift; prepare_options=("$@"); break ;;
      --from | --destdir | --source-lang | --target-lang) ;;
      --*)
        case " $flags " in *" $name "*) printf -v "${name//-/_}" yes; shift; continue ;; esac
        case " $values " in *" $name "*) ;; *) fail "unknown option $1; see --help (those of" \
          "syntax-nmt prepare come after --)" ;; esac
        ;;
      *) fail "unexpected argument '$1'; see --help" ;;
    esac
    [ $# -ge 2 ] || fail "$1 needs a value"
    printf -v "${name//-/_}" '%s' "$2"
    shift 2
  done
  check_options
}

show_help() { sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; }

check_options() {
  local name
  case " $directions " in
    *" $source_lang-$target_lang "*) ;;
    *) fail "--source-lang $source_lang --target-lang $target_lang: only ${directions// /, }" ;;
  esac
  [ -z "$from" ] || [ -d "$from" ] || fail "--from $from: there is no such folder"
  for name in --trainpref --validpref --testpref --destdir; do
    case " ${prepare_options[*]} " in *" $name "* | *" $name="*) fail "$name after --: the recipe" \
      "sets it; its own --destdir comes before --" ;; esac
  done
  local program
  for program in python syntax-nmt tar gzip; do
    command -v "$program" >/dev/null ||
      fail "$program is not on the PATH: activate the environment that syntax_nmt is installed in"
  done
  destdir=${destdir:-outputs/${RECIPE%.sh}.$source_lang-$target_lang}
  case $destdir in # as syntax-nmt prepare does, after everything is downloaded
    *[,:]*) fail "--destdir $destdir: fairseq takes , and : for the end of a folder's name: give" \
      "a name without" ;;
    -*) fail "--destdir $destdir: fairseq takes it for an option: give the whole path" ;;
  esac
  corpus=$destdir/corpus
  mkdir -p "$corpus" "$destdir/downloads" "$destdir/raw" 2>/dev/null ||
    fail "--destdir $destdir: cannot be made or written to"
  declare -gA path=() # where each file that was asked for is
  missing=() may_download=''
}

# given OPTION: the value of an option of `syntax-nmt prepare` after --, if it is there.
given() {
  local i
  for ((i = 0; i < ${#prepare_options[@]}; i++)); do
    case ${prepare_options[i]} in
      "$1") echo "${prepare_options[i + 1]-}" ;;
      "$1="*) echo "${prepare_options[i]#*=}" ;;
    esac
  done | tail -n 1
}

# ---- steps that are done once

# once OUTPUT … : INPUT … : COMMAND …: runs a command unless it has made the outputs before, with
# these very arguments, from these very inputs.
once() {
  local outputs=() inputs=() output key
  while [ "$1" != : ]; do outputs+=("$1"); shift; done
  shift
  while [ "$1" != : ]; do inputs+=("$1"); shift; done
  shift
  key=$(printf '%q ' "$@"; stat -L -c '%n %s %Y' -- "${inputs[@]}" 2>/dev/null) ||
    fail "${inputs[*]}: cannot be read"
  if [ "$(cat "${outputs[0]}.made" 2>/dev/null)" = "$key" ] && all_there "${outputs[@]}"; then
    say "$(basename "${outputs[0]}"): done before"
    return
  fi
  rm -f "${outputs[0]}.made"
  "$@"
  all_there "${outputs[@]}" || fail "${outputs[*]}: not made"
  printf '%s\n' "$key" >"${outputs[0]}.made.part"
  mv "${outputs[0]}.made.part" "${outputs[0]}.made"
}

all_there() {
  local file
  for file; do [ -e "$file" ] || return 1; done
}

# ---- where files come from

# local_copy NAME|OTHER_NAME…: the path of a file in --from, plain or .gz, in any of its folders.
local_copy() {
  local name names found
  IFS='|' read -ra names <<<"$1"
  for name in "${names[@]%.gz}"; do
    for found in "$from/$name" "$from/$name.gz"; do
      [ ! -f "$found" ] || { echo "$found"; return; }
    done
    found=$(find -L "$from" -type f \( -path "*/$name" -o -path "*/$name.gz" \) | sort)
    case $found in
      '') ;;
      *$'\n'*) fail "--from $from has $name more than once: ${found//$'\n'/, }" ;;
      *) echo "$found"; return ;;
    esac
  done
}

# file NAME URL [LINES]: one text file, local or downloaded.
file() {
  local name=${1%%|*} found
  if [ -n "$from" ]; then
    found=$(local_copy "$1")
    [ -n "$found" ] || { missing+=("$name ($2)") may_download=yes; return 0; }
  else
    found=$destdir/downloads/$(basename "$2")
    fetch "$2" "$found"
  fi
  path[$name]=$found
  [ -z "${3-}" ] || check_lines "$found" "$3"
}

# archive NAME|OTHER_NAME… URL MD5|- MEMBER[:LINES] …: files out of a tar archive, which is local,
# downloaded, or not needed because the files themselves are in --from.
archive() {
  local names=$1 name=${1%%|*} url=$2 md5=$3 found first members=() member
  shift 3
  for member; do members+=("${member%%:*}"); done
  if [ -n "$from" ]; then
    found=$(local_copy "$names")
    first=$(local_copy "${members[0]}")
    if [ -z "$found" ] || [ -n "$first" ]; then
      for member in "${members[@]}"; do
        path[$member]=$(local_copy "$member")
        [ -n "${path[$member]}" ] || missing+=("$member (in $name, $url)") may_download=yes
      done
    else
      [ "$md5" = - ] || [ "$(md5_of "$found")" = "$md5" ] ||
        say "note: $found is not the file that was published (its MD5 is another)"
      unpack "$found" "${members[@]}"
    fi
  else
    found=$destdir/downloads/$name
    fetch "$url" "$found" "$md5"
    unpack "$found" "${members[@]}"
  fi
  for member; do
    found=${path[${member%%:*}]-}
    case $member in *:*) [ -z "$found" ] || check_lines "$found" "${member#*:}" ;; esac
  done
}

# own NAME WHERE: a file in --from that nobody may hand out, and where it can be had.
own() {
  local found=''
  [ -z "$from" ] || found=$(local_copy "$1")
  if [ -n "$found" ]; then path[${1%%|*}]=$found; else missing+=("${1%%|*} ($2)"); fi
}

# have_all: ends the recipe if something is missing, in one line that says where it all comes from.
have_all() {
  [ ${#missing[@]} -gt 0 ] || return 0
  local listed
  listed=$(printf '%s; ' "${missing[@]}")
  [ -n "$from" ] || fail "give the folder with these files by --from: ${listed%; }"
  fail "--from $from lacks ${may_download:+(leave out --from to download) }${listed%; }"
}

# ---- downloads

md5_of() { md5sum <"$1" | cut -d ' ' -f 1; }

# fetch URL FILE [MD5]: downloads what is not there yet, resuming where a broken download ended.
fetch() {
  local url=$1 file=$2 md5=${3:--}
  [ ! -f "$file" ] || return 0
  mkdir -p "$(dirname "$file")"
  say "$url"
  if command -v curl >/dev/null; then
    with_curl "$url" "$file.part"
  else
    with_wget "$url" "$file.part"
  fi
  check_whole "$url" "$file.part" "$md5"
  mv "$file.part" "$file"
}

with_curl() {
  local code status=0 progress=--silent
  [ ! -t 2 ] || progress=--progress-bar
  code=$(curl --fail --location --retry 3 "$progress" --continue-at - --output "$2" \
    --write-out '%{http_code}' "$1") || status=$?
  case $status:$code in
    0:* | *:416) ;; # 416: there was nothing left to fetch
    33:*) rm "$2"; with_curl "$1" "$2" ;; # the server cannot resume in the middle
    22:*) fail "$1: cannot be downloaded (HTTP status $code)" ;;
    *) fail "$1: the download broke off (curl status $status); run this again to resume" ;;
  esac
}

with_wget() {
  local said
  said=$(wget --continue --tries 3 --no-verbose --output-document "$2" "$1" 2>&1) || case $said in
    *' 416'*) ;;
    *ERROR*) fail "$1: cannot be downloaded (HTTP status ${said##*ERROR })" ;;
    *) fail "$1: the download broke off ($(tail -n 1 <<<"$said")); run this again to resume" ;;
  esac
}

# check_whole URL FILE MD5|-: a damaged file is removed, so that the next run fetches it anew.
check_whole() {
  local problem='' found
  if [ ! -s "$2" ]; then
    problem='it is empty'
  elif [ "$3" != - ]; then
    found=$(md5_of "$2")
    [ "$found" = "$3" ] || problem="MD5 $found instead of $3"
  else
    case $1 in
      *gz) gzip -t "$2" 2>/dev/null || problem='the gzip file is damaged or truncated' ;;
      *.tar) tar -tf "$2" >/dev/null 2>&1 || problem='the tar file is damaged or truncated' ;;
    esac
  fi
  [ -n "$problem" ] || { say "  $(stat -c %s "$2") bytes, whole"; return 0; }
  rm -f "$2"
  fail "$1: $problem; removed it, run this again to fetch it anew"
}

# ---- checks and unpacking

# check_lines FILE LINES: against the number of lines that is known. A whole file with another
# number may be a newer edition: that is said, and the two sides must be parallel in any case.
check_lines() {
  local found
  found=$(text_of "$1" | wc -l)
  [ "$found" -eq "$2" ] || say "note: $1 has $found lines, not the $2 that were expected"
}

# unpack ARCHIVE MEMBER …: files of a tar archive, known by their names without folders.
unpack() {
  local found=$1 member outputs=()
  shift
  for member; do
    path[$member]=$destdir/raw/$member
    outputs+=("${path[$member]}")
  done
  once "${outputs[@]}" : "$found" : unpack_members "$found" "$@"
}

unpack_members() {
  local found=$1 folder=$destdir/raw/unpacking member listed entries=()
  shift
  listed=$(tar -tf "$found" 2>/dev/null) || fail "$found: damaged or no tar archive; fetch it again"
  for member; do
    entries+=("$(grep -E "(^|/)${member//./\\.}\$" <<<"$listed" | head -n 1 || true)")
    [ -n "${entries[-1]}" ] || fail "$found: $member is not in it; is it the right archive?"
  done
  rm -rf "$folder"
  mkdir "$folder"
  tar -xf "$found" -C "$folder" "${entries[@]}" || fail "$found: cannot be unpacked"
  for member; do
    mkdir -p "$(dirname "$destdir/raw/$member")"
    mv "$(find "$folder" -type f -path "*/$member")" "$destdir/raw/$member"
    say "  $member: $(stat -c %s "$destdir/raw/$member") bytes"
  done
  rm -rf "$folder"
}

# ---- text

# markup, clean: the Python commands of that name; see their --help.
markup() { python -m syntax_nmt.commands.recipes.markup "$@"; }
clean() { python -m syntax_nmt.commands.recipes.clean "$@"; }

# text_of FILE …: plain or .gz.
text_of() {
  local file
  for file; do
    case $file in *.gz) gzip -cd "$file" ;; *) cat "$file" ;; esac || fail "$file: damaged"
  done
}

# plain_text OUTPUT FILE: a text as it is.
plain_text() { once "$1" : "$2" : copy_text "$2" "$1"; }
copy_text() {
  text_of "$1" >"$2.part"
  mv "$2.part" "$2"
  say "  $2: $(wc -l <"$2") lines"
}

# marked_up FORMAT SET "SOURCE …" "TARGET …" OPTION …: corpus/SET.LANG out of files with markup,
# named as in `path`.
marked_up() {
  local format=$1 outputs=("$corpus/$2.$source_lang" "$corpus/$2.$target_lang")
  local name sources=() targets=()
  for name in $3; do sources+=("${path[$name]}"); done
  for name in $4; do targets+=("${path[$name]}"); done
  once "${outputs[@]}" : "${sources[@]}" "${targets[@]}" : markup "$format" "${@:5}" \
    --text "${outputs[0]}" "${sources[@]}" --text "${outputs[1]}" "${targets[@]}"
}

# training_text "SOURCE …" "TARGET …" OPTION …: joins the parts, named as in `path`, and cleans them
# into corpus/train.LANG; the options are those of the command `clean`.
training_text() {
  local sources=() targets=() name mode side i
  for name in $1; do sources+=("${path[$name]}"); done
  for name in $2; do targets+=("${path[$name]}"); done
  shift 2
  local options=(--source-lang "$source_lang" --target-lang "$target_lang" --output "$corpus/train")
  for side in source target; do
    mode=$(given "--$side-tokenizer")
    [ -z "$mode" ] || options+=("--$side-tokenizer" "$mode")
  done
  local outputs=("$corpus/train.$source_lang" "$corpus/train.$target_lang")
  for ((i = 1; i < $#; i++)); do
    if [ "${!i}" = --hold-out ]; then
      name=$((i + 1))
      outputs+=("${!name}.$source_lang" "${!name}.$target_lang")
    fi
  done
  once "${outputs[@]}" : "${sources[@]}" "${targets[@]}" : \
    clean --source "${sources[@]}" --target "${targets[@]}" "$@" "${options[@]}"
}

# ---- the end

# settings SETTING …: what the paper asks of `syntax-nmt prepare`; options after -- come after them.
# Missing models and mistyped options are found here, hours before they are needed.
settings() {
  prepare=(syntax-nmt prepare --source-lang "$source_lang" --target-lang "$target_lang" "$@"
    "${prepare_options[@]}")
  local folder said
  folder=$(mktemp -d)
  echo word | tee "$folder/train.$source_lang" >"$folder/train.$target_lang"
  # All is checked before the folder is opened; that one is a file ends this run.
  touch "$folder/file"
  said=$("${prepare[@]}" --trainpref "$folder/train" --destdir "$folder/file" 2>&1) || true
  rm -rf "$folder"
  case $said in
    *"cannot work in $folder/file"*) ;;
    *) printf '%s\n' "$said" >&2; exit 1 ;;
  esac
}

# prepare_corpus TEST …: the data-bin folder, from corpus/train, corpus/valid if it is there, and
# the test sets named.
prepare_corpus() {
  local tests=() valid=() name
  for name; do tests+=("$corpus/$name"); done
  [ ! -f "$corpus/valid.$source_lang" ] || valid=(--validpref "$corpus/valid")
  [ $# -eq 0 ] || valid+=(--testpref "$(IFS=,; echo "${tests[*]}")")
  exec "${prepare[@]}" --trainpref "$corpus/train" "${valid[@]}" --destdir "$destdir/prepared"
}
