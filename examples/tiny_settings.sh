# Sourced: how the examples train tiny models on the built-in corpus, in minutes on a CPU.

named_folder() { # NAME DEFAULT: NAME, from where the user stood before the script's `cd`
  case $1 in
    '') echo "$2" ;;
    /*) echo "$1" ;;
    *) echo "$OLDPWD/$1" ;;
  esac
}

made_folder() { # NAME DEFAULT: makes that folder, and prints it
  local folder
  folder=$(named_folder "$@")
  mkdir -p "$folder" && echo "$folder"
}

corpus_and_data() { # FOLDER: makes FOLDER/corpus and FOLDER/prepared unless they are there
  [ -f "$1/corpus/demo.json" ] || syntax-nmt demo "$1/corpus"
  syntax-nmt prepare --source-lang src --target-lang tgt \
    --source-tokenizer none --target-tokenizer none \
    --trainpref "$1/corpus/train" --validpref "$1/corpus/valid" --testpref "$1/corpus/test" \
    --vocab-size 1000 --destdir "$1/prepared" >"$1/prepare.log" 2>&1 ||
    { tail -n 5 "$1/prepare.log" >&2; return 1; }
}

tiny_training=(
  --user-dir "$(syntax-nmt user-dir)" --task syntax_translation --label-smoothing 0.1
  --share-all-embeddings --dropout 0.1
  --optimizer adam --adam-betas '(0.9, 0.98)' --clip-norm 1.0
  --lr 1e-2 --lr-scheduler inverse_sqrt --warmup-updates 200
  --max-tokens 1000 --max-update 2400 --no-epoch-checkpoints
  --cpu --log-format simple --log-interval 100
)

train_once() { # LOG OPTION …: fairseq-train, unless the log says that it has been done
  grep -qs 'done training' "$1" && return
  echo "training, log: $1" >&2
  fairseq-train "${@:2}" >"$1" 2>&1 || { tail -n 20 "$1" >&2; return 1; }
}

dependency_supervision=(--load-dependencies --criterion dependency_cross_entropy)

translate_test() { # FOLDER CHECKPOINT OUTPUT [OPTION …]: beam 4, one line a sentence, in order
  fairseq-generate "$1/prepared/data-bin" --user-dir "$(syntax-nmt user-dir)" --task syntax_translation --cpu \
    --path "$2" --beam 4 --max-tokens 4000 --bpe sentencepiece \
    --sentencepiece-model "$1/prepared/sentencepiece.model" "${@:4}" >"$3.log" 2>&1 ||
    { tail -n 20 "$3.log" >&2; return 1; }
  grep '^D-' "$3.log" | sed 's/^D-//' | sort -n | cut -f 3 >"$3"
}

train_to_average() { # FOLDER DATA NAME OPTION …: keeps the last three checkpoints in FOLDER/NAME
  train_once "$1/$3.log" "$2" "${tiny_training[@]}" --disable-validation \
    --save-interval-updates 100 --keep-interval-updates 3 "${@:4}" --save-dir "$1/$3"
  [ -f "$1/$3/averaged.pt" ] ||
    syntax-nmt average "$1/$3" --last 3 --output "$1/$3/averaged.pt" >>"$1/$3.log" 2>&1
}

test_bleu() { # FOLDER NAME [OPTION …]: translates with the mean of the checkpoints, prints BLEU
  translate_test "$1" "$1/$2/averaged.pt" "$1/$2.output" "${@:3}"
  sacrebleu "$1/corpus/test.tgt" -i "$1/$2.output" --tokenize none --force -b -w 1
}
