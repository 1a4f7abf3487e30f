# Sourced: how the examples compare systems on Multi30k English→German, an hour or two a system on
# one core. Needs tiny_settings.sh. Set before: raw, the folder of the corpus (train, val and
# test_2016_flickr, .en and .de, may end in .gz); stanza, the folder of the parser's models; folder,
# for everything made.

data=$folder/prepared/data-bin

prepare_multi30k() { # [OPTION of syntax-nmt prepare …]
  syntax-nmt prepare --source-lang en --target-lang de --vocab-size 8000 \
    --trainpref "$raw/train" --validpref "$raw/val" --testpref "$raw/test_2016_flickr" \
    --stanza-dir "$stanza" --destdir "$folder/prepared" "$@"
}

multi30k_training=(
  "$data" -s en -t de --user-dir syntax_nmt --share-all-embeddings
  --encoder-embed-dim 256 --encoder-ffn-embed-dim 1024
  --encoder-layers 3 --decoder-layers 3 --encoder-attention-heads 8 --decoder-attention-heads 8
  --dropout 0.2 --label-smoothing 0.1 --optimizer adam --adam-betas '(0.9, 0.98)' --clip-norm 1.0
  --lr 1e-3 --lr-scheduler inverse_sqrt --warmup-updates 500 --max-tokens 2048 --max-epoch 8
  --no-epoch-checkpoints --cpu --seed 1 --log-format simple --log-interval 50
)

train_stock_on_multi30k() { # fairseq's own Transformer
  train_once "$folder/stock.log" "${multi30k_training[@]}" --task translation --arch transformer \
    --criterion label_smoothed_cross_entropy --save-dir "$folder/stock"
}

translate_multi30k() { # NAME OPTION …: the best checkpoint's translations in $folder/NAME.gen
  fairseq-generate "$data" -s en -t de --user-dir syntax_nmt "${@:2}" --cpu --beam 5 \
    --path "$folder/$1/checkpoint_best.pt" --max-tokens 4000 --tokenizer syntax_words \
    --bpe sentencepiece --sentencepiece-model "$folder/prepared/sentencepiece.model" \
    >"$folder/$1.gen" 2>"$folder/$1.generate.log" ||
    { tail -n 20 "$folder/$1.generate.log" >&2; return 1; }
}

translate_stock_multi30k() {
  # Without the multiple of 1 fairseq's own task would leave out the last sentences.
  translate_multi30k stock --task translation --required-batch-size-multiple 1
}

compare_multi30k() { # NAME …: scores by length, and tests against the first
  local systems=() name
  for name in "$@"; do systems+=(--system "$name" "$folder/$name.gen"); done
  gzip -cdf "$raw"/test_2016_flickr.de* >"$folder/test.de"
  syntax-nmt score "${systems[@]}" --reference "$folder/test.de" \
    --source "$folder/prepared/pieces/test.en" --metrics bleu chrf
  syntax-nmt compare "${systems[@]}" --reference "$folder/test.de" --metrics bleu chrf
}
