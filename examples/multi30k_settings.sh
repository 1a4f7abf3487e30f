# Sourced: how the examples compare systems on Multi30k, half an hour to two hours a system on one
# core. Needs tiny_settings.sh. Set before: raw, the folder of the corpus (train, val and
# test_2016_flickr, .en and .de, may end in .gz); folder, for everything made; source and target,
# the languages; stanza, the folder of the parser's models, where something is parsed.

data=$folder/prepared/data-bin

prepare_multi30k() { # [OPTION of syntax-nmt prepare …]
  syntax-nmt prepare --source-lang "$source" --target-lang "$target" --vocab-size 8000 \
    --trainpref "$raw/train" --validpref "$raw/val" --testpref "$raw/test_2016_flickr" \
    --destdir "$folder/prepared" "$@"
}

multi30k_training=(
  "$data" -s "$source" -t "$target" --user-dir "$(syntax-nmt user-dir)" --share-all-embeddings
  --encoder-embed-dim 256 --label-smoothing 0.1
  --optimizer adam --adam-betas '(0.9, 0.98)' --clip-norm 1.0 --lr-scheduler inverse_sqrt
  --max-tokens 2048 --no-epoch-checkpoints --cpu --seed 1 --log-format simple --log-interval 50
)

multi30k_transformer=(
  "${multi30k_training[@]}" --encoder-ffn-embed-dim 1024 --encoder-layers 3 --decoder-layers 3
  --encoder-attention-heads 8 --decoder-attention-heads 8
  --dropout 0.2 --lr 1e-3 --warmup-updates 500 --max-epoch 8
)

multi30k_rnn=(
  "${multi30k_training[@]}" --task syntax_translation --encoder-hidden-size 256
  --decoder-embed-dim 256 --decoder-hidden-size 256 --decoder-out-embed-dim 256
  --attention-dim 256 --readout tanh --lr 2e-3 --warmup-updates 300 --max-epoch 5
)

train_stock_on_multi30k() { # fairseq's own Transformer
  train_once "$folder/stock.log" "${multi30k_transformer[@]}" --task translation \
    --arch transformer --criterion label_smoothed_cross_entropy --save-dir "$folder/stock"
}

translate_multi30k() { # NAME OPTION …: the best checkpoint's translations in $folder/NAME.gen
  echo "translating, log: $folder/$1.generate.log" >&2
  fairseq-generate "$data" -s "$source" -t "$target" --user-dir "$(syntax-nmt user-dir)" \
    "${@:2}" --cpu --beam 5 --path "$folder/$1/checkpoint_best.pt" --max-tokens 4000 --tokenizer syntax_words \
    --bpe sentencepiece --sentencepiece-model "$folder/prepared/sentencepiece.model" \
    >"$folder/$1.gen" 2>"$folder/$1.generate.log" ||
    { tail -n 20 "$folder/$1.generate.log" >&2; return 1; }
}

translate_stock_multi30k() {
  # Without the multiple of 1 fairseq's own task would leave out the last sentences.
  translate_multi30k stock --task translation --required-batch-size-multiple 1
}

multi30k_rnn_system() { # NAME OPTION …: trains and translates
  train_once "$folder/$1.log" "${multi30k_rnn[@]}" "${@:2}" --save-dir "$folder/$1"
  translate_multi30k "$1" --task syntax_translation
}

compare_multi30k() { # NAME …: scores by length, and tests against the first
  local systems=() name
  for name in "$@"; do systems+=(--system "$name" "$folder/$name.gen"); done
  gzip -cdf "$raw/test_2016_flickr.$target"* >"$folder/test.$target"
  syntax-nmt score "${systems[@]}" --reference "$folder/test.$target" \
    --source "$folder/prepared/pieces/test.$source" --metrics bleu chrf
  syntax-nmt compare "${systems[@]}" --reference "$folder/test.$target" --metrics bleu chrf
}
