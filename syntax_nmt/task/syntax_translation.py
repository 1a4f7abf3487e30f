"""`--task syntax_translation`: fairseq's translation task plus annotation.

fairseq reads the types of the options at run time: no postponed annotations in this file.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Optional

from fairseq.criterions import FairseqCriterion
from fairseq.criterions.adaptive_loss import AdaptiveLoss
from fairseq.data import Dictionary
from fairseq.models import BaseFairseqModel
from fairseq.sequence_scorer import SequenceScorer
from fairseq.tasks import register_task
from omegaconf import II
from torch import Tensor, nn

from syntax_nmt.arguments import option
from syntax_nmt.backbone.masked_batch_norm import ignored_batch
from syntax_nmt.checkpoints.task_checkpoints import check_models
from syntax_nmt.criterions.syntax_cross_entropy import ways_to_learn
from syntax_nmt.data.annotation import CHUNKS, PARSED_KINDS
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.languages import plain_language
from syntax_nmt.errors import UserError, exits_in_fairseq_programs
from syntax_nmt.models.model_building import keep_defaults
from syntax_nmt.parsing.config import ParserConfig
from syntax_nmt.task.annotated_translation import AnnotatedTranslationConfig
from syntax_nmt.task.annotation_inputs import AnnotationInputs, Parser, declared
from syntax_nmt.task.chunk_validation import log_gold_boundaries, under_own_boundaries
from syntax_nmt.task.interactive_translation import InteractiveTranslationTask
from syntax_nmt.task.languages import check_languages
from syntax_nmt.task.prepared_search import check_search_options, numbered_for, prepared_for
from syntax_nmt.task.source_parser import SourceParser
from syntax_nmt.task.unknown_words import build_replacing
from syntax_nmt.task.workers import check_joined
from syntax_nmt.task.yaml_options import refuse_unknown_options

logger = logging.getLogger(__name__)


@dataclass
class SyntaxTranslationConfig(AnnotatedTranslationConfig):
    """fairseq's options of the translation task, annotation, and a parser."""

    parser_config: Optional[str] = option(
        None,
        "parse the source while it is translated, for models that read dependencies or phrases, in "
        "place of --load-dependencies or --load-phrases: the file parser.json that `syntax-nmt "
        "prepare` wrote, or another JSON file of lang, subwords, stanza_dir or model files, "
        "device, max_words, batch_size",
    )
    # Options of other groups, which fairseq fills in: what is to be loaded is checked beforehand.
    path: Optional[str] = II("common_eval.path")
    lm_path: Optional[str] = II("generation.lm_path")
    checkpoint_shard_count: int = II("checkpoint.checkpoint_shard_count")


@register_task("syntax_translation", dataclass=SyntaxTranslationConfig)
class SyntaxTranslationTask(InteractiveTranslationTask):
    """Translation with annotation: source dependencies and phrases, target chunks.

    What it stands on differs from fairseq's own task even without annotation: trainings may
    be killed (:class:`RestartableTranslationTask`), no sentence is lost
    (:class:`AnnotatedTranslationTask`, :class:`InteractiveTranslationTask`), and mistakes in data,
    checkpoints and options are reported in one line. Here models get the inputs they read.

    Args:
        src_dict: the source vocabulary.
        tgt_dict: the target vocabulary.
    """

    cfg: SyntaxTranslationConfig
    hands_over_annotation = True  # which the models of this package count on
    _adaptive_softmax = False  # of the model that was built last

    def __init__(
        self, cfg: SyntaxTranslationConfig, src_dict: Dictionary, tgt_dict: Dictionary
    ) -> None:
        super().__init__(cfg, src_dict, tgt_dict)
        self._model_files: list[str] = []
        self._learnt: tuple[AnnotationKind, ...] = ()
        self._parser = _source_parser(cfg, src_dict)
        parsers: dict[AnnotationKind, Parser] = {}
        if self._parser is not None:
            parsers = {kind: partial(self._parser.parse, kind) for kind in PARSED_KINDS}
        self._annotation = AnnotationInputs(self._loaded, self._labels, parsers, "--parser-config")
        self._keeps_pieces = self._parser is not None

    @classmethod
    def setup_task(cls, cfg: SyntaxTranslationConfig, **kwargs: Any) -> "SyntaxTranslationTask":
        """Builds the task and loads its dictionaries.

        Args:
            **kwargs: as of fairseq's own task.

        Raises:
            UserError: no such folder or language, and one line says which there are; or a
                dictionary, a model of `--path` or the configuration of the parsers has a mistake.
        """
        with exits_in_fairseq_programs():
            check_languages(cfg)
            task = super().setup_task(cfg, **kwargs)
            if not kwargs.get("from_checkpoint"):
                task._model_files = check_models(cfg, (task.src_dict, task.tgt_dict))
            return task

    def build_model(self, cfg: Any, from_checkpoint: bool = False) -> BaseFairseqModel:
        """Builds the model.

        Args:
            from_checkpoint: whether its weights will be loaded: it is not to be trained.

        Raises:
            UserError: there is no training as it was started, a YAML has a key that is no option
                of the model, or the parser of what it reads is missing; one line says so.
        """
        origin = None
        with exits_in_fairseq_programs():
            if from_checkpoint:  # perhaps of a newer version, with options unknown here
                keep_defaults(cfg)
                origin = self._model_files.pop(0) if self._model_files else None
            else:
                check_joined()
                refuse_unknown_options(cfg)
        model = super().build_model(cfg, from_checkpoint)
        if self._parser is not None:
            with exits_in_fairseq_programs():
                self._parser.find(kind for kind in declared([model]) if kind not in self._loaded)
        if origin is not None and hasattr(model, "origin"):
            model.origin = origin
        decoder = getattr(model, "decoder", None)
        if self.cfg.load_alignments and decoder is not None:  # a criterion reads its attention
            decoder.need_attn = True
        self._learnt = getattr(model, "learns_annotation", ())
        self._adaptive_softmax = getattr(decoder, "adaptive_softmax", None) is not None
        return model

    def build_criterion(self, cfg: Any, from_checkpoint: bool = False) -> FairseqCriterion:
        """Builds the criterion, and warns if it leaves a part of the model without training.

        Args:
            from_checkpoint: whether its state will be loaded.

        Raises:
            UserError: the model's output layer needs another criterion.
        """
        criterion = super().build_criterion(cfg, from_checkpoint)
        with exits_in_fairseq_programs():
            if self._adaptive_softmax and not isinstance(criterion, AdaptiveLoss):
                raise UserError(
                    "--adaptive-softmax-cutoff has a loss of its own, without auxiliary losses: "
                    "leave it out, or give --criterion adaptive_loss --ddp-backend legacy_ddp"
                )
        self._annotation.objectives = getattr(criterion, "objectives", ())
        for kind in self._learnt:
            if kind not in declared(self._annotation.objectives):
                logger.warning(
                    f"nothing trains what the model learns of the {kind.description}: give "
                    f"{ways_to_learn(kind)}"
                )
        return criterion

    def build_generator(self, models: Sequence[nn.Module], args: Any, *more: Any, **kw: Any) -> Any:
        """Builds what searches or scores; with `--replace-unk` a search aligns, too.

        Args:
            args: fairseq's options of the search.
            *more: as of fairseq's own task.
            **kw: as of fairseq's own task.

        Raises:
            UserError: options that have no place in this search; one line says which.
        """
        with exits_in_fairseq_programs():
            check_search_options(args)
            return build_replacing(super().build_generator, models, args, *more, **kw)

    def train_step(
        self, sample: Any, model: Any, criterion: Any, optimizer: Any, update_num: int,
        ignore_grad: bool = False,
    ) -> Any:  # fmt: skip
        """Forward and backward pass of one batch.

        Args:
            update_num: updates so far.
            ignore_grad: the batch only stands in for one that this worker does not have; it counts
                in no statistics of batch norms either.
        """
        with exits_in_fairseq_programs():
            sample = self._annotation.for_forward([model], sample)
        with ignored_batch(model, ignore_grad):
            return super().train_step(sample, model, criterion, optimizer, update_num, ignore_grad)

    def valid_step(
        self, sample: dict[str, Any], model: nn.Module, criterion: FairseqCriterion
    ) -> tuple[Tensor, Any, dict[str, Any]]:
        """Computes the loss of one batch, and with `--eval-bleu` its translations.

        A model that chooses chunk boundaries does so here, too; with `--load-chunks` it is compared
        with the annotation in a second pass.
        """
        validate = partial(super().valid_step, model=model, criterion=criterion)
        with exits_in_fairseq_programs():
            sample = self._annotation.for_forward([model], sample)
        if CHUNKS.key not in sample["net_input"]:
            return validate(sample)
        return under_own_boundaries(validate, sample, model, criterion)

    def reduce_metrics(
        self, logging_outputs: Sequence[dict[str, Any]], criterion: FairseqCriterion
    ) -> None:
        """Logs the figures of all workers.

        Args:
            logging_outputs: what the steps gave for the log.
        """
        super().reduce_metrics(logging_outputs, criterion)
        log_gold_boundaries(logging_outputs)

    def inference_step(
        self,
        generator: Any,
        models: Sequence[nn.Module],
        sample: dict[str, Any],
        prefix_tokens: Optional[Tensor] = None,
        constraints: Optional[Tensor] = None,
    ) -> Any:
        """Generates for one batch, or scores it.

        Annotation of the source comes from annotation files (`--load-…`), otherwise from parsers
        (`--parser-config`); that of the target is given where references are scored, never in a
        search.

        Args:
            generator: fairseq's generator or scorer.
            prefix_tokens: B×T', forced at the start of the output.
            constraints: of a constrained search.

        Raises:
            UserError: a parser does not load; one line says why.
        """
        with exits_in_fairseq_programs():
            scores = isinstance(generator, SequenceScorer)
            sample = self._annotation.for_inference(models, sample, self._typed, scores)
        sample = numbered_for(generator, sample)
        with prepared_for(generator, models):
            return super().inference_step(generator, models, sample, prefix_tokens, constraints)

    def eval_lm_dataloader(self, *_: Any, **__: Any) -> Any:
        """What `fairseq-eval-lm` asks of a task of language models.

        Raises:
            SystemExit: always; one line says so.
        """
        with exits_in_fairseq_programs():
            raise UserError(
                "fairseq-eval-lm is for language models, and this task translates: give --task "
                "language_modeling, or score translations with fairseq-generate --score-reference"
            )


def _source_parser(cfg: SyntaxTranslationConfig, dictionary: Dictionary) -> Optional[SourceParser]:
    """The parsers of `--parser-config`."""
    name = cfg.parser_config
    if name is None:
        return None
    config = ParserConfig.read(name)
    parsed, source, target = map(plain_language, (config.lang, cfg.source_lang, cfg.target_lang))
    if parsed == target != source:
        raise UserError(
            f"{name}: lang: parses '{config.lang}', the target language; the source, which is "
            f"parsed, is '{cfg.source_lang}': give the configuration of its parser"
        )
    return SourceParser(config, name, dictionary)
