# Sourced by the train.sh of the papers: their arguments, and the start of fairseq-train.
data=${1:?usage: train.sh DATABIN SAVEDIR [OPTION …]}
save=${2:?usage: train.sh DATABIN SAVEDIR [OPTION …]}
shift 2
given=("$@")
own=()

# "The base setting of Vaswani et al." (2017).
base=(
  --label-smoothing 0.1 --dropout 0.1 --optimizer fused_adam --adam-betas '(0.9, 0.98)'
  --adam-eps 1e-9 --clip-norm 0 --lr 7e-4 --lr-scheduler inverse_sqrt --warmup-updates 4000
  --warmup-init-lr 1e-7 --max-tokens 4096
)
# One GPU; with N, divide --update-freq by N.
base_wmt=(
  "${base[@]}" --update-freq 8 --max-update 100000
  --save-interval-updates 1500 --keep-interval-updates 5 --no-epoch-checkpoints
)
# Adadelta as in dl4mt: the loss is a sentence's sum, averaged over the batch.
adadelta=(
  --label-smoothing 0 --sentence-avg --optimizer adadelta --lr 1.0 --lr-scheduler fixed
  --adadelta-rho 0.95 --adadelta-eps 1e-6 --clip-norm 1.0
  --max-epoch 30 --patience 5 --keep-last-epochs 5
)
best_by_bleu=(
  --eval-bleu --eval-bleu-remove-bpe sentencepiece --eval-tokenized-bleu
  --best-checkpoint-metric bleu --maximize-best-checkpoint-metric
)

# own_of_arch NAME OPTION …: what only this architecture, in any size, knows.
own_of_arch() {
  case " ${given[*]-} " in
    *" --arch"[\ =]"$1"*) ;;
    *" --arch"[\ =]*) return ;;
  esac
  own+=("${@:2}")
}

# own_of_criterion NAME OPTION …: what only this criterion and that of all methods know.
own_of_criterion() {
  case " ${given[*]-} " in
    *" --criterion"[\ =]"$1 "* | *" --criterion"[\ =]"syntax_cross_entropy "*) ;;
    *" --criterion"[\ =]*) return ;;
  esac
  own+=("${@:2}")
}

# train OPTION …: with the paper's options, what is the method's own, and what the user gives.
train() {
  exec fairseq-train "$data" --user-dir "$(syntax-nmt user-dir)" --task syntax_translation "$@" \
    --save-dir "$save" ${own[@]+"${own[@]}"} ${given[@]+"${given[@]}"}
}
