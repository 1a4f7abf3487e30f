"""`--task syntax_translation`: fairseq's translation task plus side information.

fairseq reads the types of the options at run time: no postponed annotations in this file.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional, Union

import numpy as np
from fairseq import utils
from fairseq.criterions import FairseqCriterion
from fairseq.data import ConcatDataset, Dictionary, FairseqDataset, LanguagePairDataset
from fairseq.data.iterators import EpochBatchIterator
from fairseq.models import BaseFairseqModel
from fairseq.sequence_scorer import SequenceScorer
from fairseq.tasks import register_task
from fairseq.tokenizer import tokenize_line
from omegaconf import II, open_dict
from torch import Tensor, nn

from syntax_nmt.criterions.chunk import ChunkObjective
from syntax_nmt.criterions.dependency import DependencyObjective
from syntax_nmt.data.dictionary import load_dictionary
from syntax_nmt.data.manifest import TAGS_NAME, read_tags
from syntax_nmt.data.side_information import SideInformation, open_side_information
from syntax_nmt.data.split_texts import check_texts, split_prefixes
from syntax_nmt.data.syntax_dataset import SyntaxDataset
from syntax_nmt.data.text import base_language
from syntax_nmt.errors import UserError, one_line_errors
from syntax_nmt.models.yaml_options import refuse_unknown_options
from syntax_nmt.modules.masked_batch_norm import ignored_batch
from syntax_nmt.parsing.config import ParserConfig
from syntax_nmt.tasks.checked_checkpoints import check_models, check_options
from syntax_nmt.tasks.chunk_inputs import ChunkInputs, reads_chunks
from syntax_nmt.tasks.languages import check_languages
from syntax_nmt.tasks.length_limits import within_limits
from syntax_nmt.tasks.parsed_phrases import PhraseParser
from syntax_nmt.tasks.phrase_inputs import PhraseInputs
from syntax_nmt.tasks.prepared_search import prepared_for
from syntax_nmt.tasks.restartable_translation import (
    RestartableTranslationConfig,
    RestartableTranslationTask,
)
from syntax_nmt.tasks.typed_lines import TypedLines
from syntax_nmt.tasks.typed_sentences import TypedSentences
from syntax_nmt.tasks.unknown_words import build_replacing
from syntax_nmt.tasks.workers import check_joined

logger = logging.getLogger(__name__)


@dataclass
class SyntaxTranslationConfig(RestartableTranslationConfig):
    """fairseq's options of the translation task and which side information to load."""

    load_dependencies: bool = field(
        default=False,
        metadata={"help": "load the head indices of the source (supervised attention heads)"},
    )
    load_phrases: bool = field(
        default=False,
        metadata={"help": "load the phrases cut from the constituents of the source"},
    )
    load_chunks: bool = field(
        default=False, metadata={"help": "load the chunk boundaries and tags of the target"}
    )
    parser_config: Optional[str] = field(
        default=None,
        metadata={
            "help": "parse the source while it is translated, for --phrase-segmentation parsed "
            "without --load-phrases: the file parser.json that `syntax-nmt prepare` wrote, or "
            "another JSON file of lang, subwords, stanza_dir or model files, device, max_words, "
            "batch_size"
        },
    )
    # Options of other groups, which fairseq fills in: what is to be loaded is checked beforehand.
    path: Optional[str] = II("common_eval.path")
    checkpoint_shard_count: int = II("checkpoint.checkpoint_shard_count")


@register_task("syntax_translation", dataclass=SyntaxTranslationConfig)
class SyntaxTranslationTask(RestartableTranslationTask):
    """Translation with side information: source dependencies and phrases, target chunks.

    Two things differ from fairseq's own task even without side information. No sentence of a split
    that is not trained on is dropped: there `--required-batch-size-multiple`, which silently cuts
    off a last batch, counts as 1. And mistakes in the data are reported in one line.

    Args:
        cfg: the options.
        src_dict: the source vocabulary.
        tgt_dict: the target vocabulary.
    """

    cfg: SyntaxTranslationConfig

    def __init__(
        self, cfg: SyntaxTranslationConfig, src_dict: Dictionary, tgt_dict: Dictionary
    ) -> None:
        super().__init__(cfg, src_dict, tgt_dict)
        self._trained_split: Optional[str] = None
        self._model_files: list[str] = []
        self._has_supervised_heads = False
        self._chooses_chunks = False
        self._chunks = ChunkInputs()
        self._phrases = PhraseInputs(cfg.load_phrases, _phrase_parser(cfg, src_dict))
        self._typed_lines: tuple[list[Tensor], list[list[str]]] = ([], [])
        self._typed: Optional[TypedSentences] = None
        self._lines = TypedLines()

    @classmethod
    def setup_task(cls, cfg: SyntaxTranslationConfig, **kwargs: Any) -> "SyntaxTranslationTask":
        """Builds the task and loads its dictionaries.

        Args:
            cfg: the options.
            **kwargs: as of fairseq's own task.

        Raises:
            SystemExit: no such folder or language, and one line says which there are; or a
                dictionary, a model of `--path` or the configuration of the parser has a mistake.
        """
        with one_line_errors("syntax_nmt"):
            check_languages(cfg)
            task = super().setup_task(cfg, **kwargs)
            if not kwargs.get("from_checkpoint"):
                task._model_files = check_models(cfg, (task.src_dict, task.tgt_dict))
            return task

    @classmethod
    def load_dictionary(cls, filename: str) -> Dictionary:
        """Reads a vocabulary.

        Args:
            filename: the file.

        Raises:
            UserError: it is damaged.
        """
        return load_dictionary(filename)

    def load_dataset(
        self, split: str, epoch: int = 1, combine: bool = False, **kwargs: Any
    ) -> None:
        """Loads a split and the side information that the options ask for.

        Args:
            split: train, valid, test, …
            epoch: chooses among several data folders.
            combine: whether fairseq may concatenate shards: it does so for the split it trains on.
            **kwargs: as of fairseq's own task.

        Raises:
            SystemExit: the split or its side files are missing, damaged or of another text, or an
                option cannot be honoured together with them; one line says which.
        """
        kinds = self._side_information_kinds()
        with one_line_errors("syntax_nmt"):
            if kinds:
                self._refuse_what_moves_tokens()
            prefixes = self._check_texts(split, epoch, combine)
            try:
                super().load_dataset(split, epoch, combine, **kwargs)
            except FileNotFoundError as error:
                raise UserError(f"{error}: the data folder has no such split") from None
            if combine:
                self._trained_split = split
            if kinds:
                self.datasets[split] = self._with_side_information(prefixes, split, kinds)

    def get_batch_iterator(self, dataset: FairseqDataset, **kwargs: Any) -> EpochBatchIterator:
        """Cuts a dataset into batches; outside training every sentence is in one.

        Args:
            dataset: the dataset.
            **kwargs: as of fairseq's own task.
        """
        if dataset is not self.datasets.get(self._trained_split):
            kwargs["required_batch_size_multiple"] = 1
        if self._is_typed(dataset):  # fairseq would keep every buffer of fairseq-interactive
            kwargs["disable_iterator_cache"] = True
        return super().get_batch_iterator(dataset, **kwargs)

    def filter_indices_by_size(
        self,
        indices: np.ndarray,
        dataset: FairseqDataset,
        max_positions: Any = None,
        ignore_invalid_inputs: bool = False,
    ) -> np.ndarray:
        """The sentences within the limits of task and models.

        Args:
            indices: numbers of sentences.
            dataset: has the sentences.
            max_positions: the limits in tokens with EOS.
            ignore_invalid_inputs: longer sentences may be left out, with a warning.

        Raises:
            SystemExit: they may not; one line names the first.
        """
        before = self._lines.before if self._is_typed(dataset) else 0
        with one_line_errors("syntax_nmt"):
            return within_limits(indices, dataset, max_positions, ignore_invalid_inputs, before)

    def _is_typed(self, dataset: FairseqDataset) -> bool:
        """Whether a dataset is none of the splits."""
        return all(dataset is not split for split in self.datasets.values())

    def build_model(self, cfg: Any, from_checkpoint: bool = False) -> BaseFairseqModel:
        """Builds the model.

        Args:
            cfg: its options.
            from_checkpoint: whether its weights will be loaded: it is not to be trained.

        Raises:
            SystemExit: there is no training as it was started, options of a checkpoint could run
                code, or a YAML has a key that is no option of the model; one line says so.
        """
        origin = None
        with one_line_errors("syntax_nmt"):
            if from_checkpoint:  # perhaps of a newer version, with options unknown here
                check_options(cfg)
                origin = self._model_files.pop(0) if self._model_files else None
            else:
                check_joined()
                refuse_unknown_options(cfg)
        model = super().build_model(cfg, from_checkpoint)
        if origin is not None and hasattr(model, "origin"):
            model.origin = origin
        encoder = getattr(model, "encoder", None)
        self._has_supervised_heads = getattr(encoder, "supervised_layer", None) is not None
        self._chooses_chunks = reads_chunks([model])
        return model

    def chunk_tags(self) -> tuple[str, ...]:
        """The types of chunks of the data folder in the order of their ids; () = it has none."""
        folder = Path(utils.split_paths(self.cfg.data)[0])
        return read_tags(folder) if (folder / TAGS_NAME).is_file() else ()

    def build_criterion(self, cfg: Any, from_checkpoint: bool = False) -> FairseqCriterion:
        """Builds the criterion, and warns if it leaves heads without supervision.

        Args:
            cfg: its options.
            from_checkpoint: whether its state will be loaded.
        """
        criterion = super().build_criterion(cfg, from_checkpoint)
        objectives = getattr(criterion, "objectives", ())
        supervises = any(isinstance(objective, DependencyObjective) for objective in objectives)
        if (self._has_supervised_heads or self.cfg.load_dependencies) and not supervises:
            logger.warning(
                "nothing supervises the attention heads: the model has them or "
                "--load-dependencies is given, but the criterion is not "
                "--criterion dependency_cross_entropy, nor are --child-weight and "
                "--parent-weight given to syntax_cross_entropy"
            )
        chunked = any(isinstance(objective, ChunkObjective) for objective in objectives)
        if (self._chooses_chunks or self.cfg.load_chunks) and not chunked:
            logger.warning(
                "nothing trains chunk boundaries and tags: the model chooses them or --load-chunks "
                "is given, but the criterion is not --criterion chunk_cross_entropy, nor are "
                "--boundary-weight and --chunk-tag-weight given to syntax_cross_entropy"
            )
        return criterion

    def build_generator(self, models: Sequence[nn.Module], args: Any, *more: Any, **kw: Any) -> Any:
        """Builds what searches or scores; with `--replace-unk` a search aligns, too.

        Args:
            models: the ensemble.
            args: fairseq's options of the search.
            *more: as of fairseq's own task.
            **kw: as of fairseq's own task.
        """
        with one_line_errors("syntax_nmt"):
            return build_replacing(super().build_generator, models, args, *more, **kw)

    def build_tokenizer(self, args: Any) -> Any:
        """Builds the tokenizer of raw text; ours gets the task's languages if none are given.

        Args:
            args: fairseq's options of the tokenizer, or None.
        """
        if getattr(args, "_name", None) == "syntax_words":
            with open_dict(args):
                args.source_lang = args.source_lang or self.cfg.source_lang
                args.target_lang = args.target_lang or self.cfg.target_lang
        return super().build_tokenizer(args)

    def get_interactive_tokens_and_lengths(
        self, lines: Sequence[str], encode_fn: Callable[[str], str]
    ) -> tuple[list[Tensor], list[int]]:
        """The tokens of typed lines, whose pieces are kept for the parser.

        Args:
            lines: raw text.
            encode_fn: cuts a line into pieces separated by spaces.

        Raises:
            SystemExit: a line is not UTF-8; one line says which.
        """
        pieces = []
        with one_line_errors("syntax_nmt"):
            self._lines.add(lines)

        def remembered(line: str) -> str:
            segmented = encode_fn(line)
            pieces.append(tokenize_line(segmented))
            return segmented

        tokens, lengths = super().get_interactive_tokens_and_lengths(lines, remembered)
        self._typed_lines = (tokens, pieces)
        return tokens, lengths

    def build_dataset_for_inference(
        self, src_tokens: list[Tensor], src_lengths: list[int], constraints: Optional[Tensor] = None
    ) -> Union[LanguagePairDataset, TypedSentences]:
        """The dataset of sentences without references.

        Args:
            src_tokens: the sentences.
            src_lengths: their lengths with EOS.
            constraints: of a constrained search.
        """
        dataset = super().build_dataset_for_inference(src_tokens, src_lengths, constraints)
        tokens, pieces = self._typed_lines
        self._typed = None
        if self._phrases.parser is not None and src_tokens is tokens:
            dataset = self._typed = TypedSentences(dataset, pieces)
        return dataset

    def train_step(
        self, sample: Any, model: Any, criterion: Any, optimizer: Any, update_num: int,
        ignore_grad: bool = False,
    ) -> Any:  # fmt: skip
        """Forward and backward pass of one batch.

        Args:
            sample: the batch.
            model: the model.
            criterion: its loss.
            optimizer: of the trainer.
            update_num: updates so far.
            ignore_grad: the batch only stands in for one that this worker does not have; it counts
                in no statistics of batch norms either.
        """
        sample = self._with_chunks([model], self._phrases.of_side_file([model], sample))
        with ignored_batch(model, ignore_grad):
            return super().train_step(sample, model, criterion, optimizer, update_num, ignore_grad)

    def valid_step(
        self, sample: dict[str, Any], model: nn.Module, criterion: FairseqCriterion
    ) -> tuple[Tensor, Any, dict[str, Any]]:
        """Computes the loss of one batch, and with `--eval-bleu` its translations.

        Args:
            sample: the batch.
            model: the model.
            criterion: the criterion.
        """
        sample = self._with_chunks([model], self._phrases.of_side_file([model], sample))
        return super().valid_step(sample, model, criterion)

    def inference_step(
        self,
        generator: Any,
        models: Sequence[nn.Module],
        sample: dict[str, Any],
        prefix_tokens: Optional[Tensor] = None,
        constraints: Optional[Tensor] = None,
    ) -> Any:
        """Generates for one batch, or scores it.

        Models that read phrases find them in `net_input["phrase_lengths"]`: those of the side file
        (`--load-phrases`), otherwise those of the parser (`--parser-config`). Chunks
        (`--load-chunks`) are read where references are scored, never in a search.

        Args:
            generator: fairseq's generator or scorer.
            models: the ensemble.
            sample: the batch.
            prefix_tokens: B×T', forced at the start of the output.
            constraints: of a constrained search.

        Raises:
            SystemExit: the parser does not load; one line says why.
        """
        with one_line_errors("syntax_nmt"):
            sample = self._phrases.of_side_file_or_parser(models, sample, self._typed)
        if isinstance(generator, SequenceScorer):
            sample = self._with_chunks(models, sample)
        else:
            sample = self._chunks.for_search(sample)
        with prepared_for(generator, models):
            return super().inference_step(generator, models, sample, prefix_tokens, constraints)

    def _with_chunks(self, models: Sequence[nn.Module], sample: Any) -> Any:
        """The batch as models read it that are given the target."""
        with one_line_errors("syntax_nmt"):
            return self._chunks.for_forward(models, sample)

    def _with_side_information(
        self, prefixes: Sequence[Path], split: str, kinds: Sequence[str]
    ) -> SyntaxDataset:
        """The split's sentence pairs with their side files, opened and checked."""
        pairs = self.datasets[split]
        source, target = self.cfg.source_lang, self.cfg.target_lang
        sides = {
            kind: (target, pairs.tgt) if kind == "chunks" else (source, pairs.src) for kind in kinds
        }
        opened = {
            kind: self._open_shards(prefixes, kind, language, text)
            for kind, (language, text) in sides.items()
            if text is not None  # a test set may have no target
        }
        if "chunks" in opened:
            self._chunks.tags = opened["chunks"].tags
        return SyntaxDataset(pairs, **opened)

    def _open_shards(
        self, prefixes: Sequence[Path], kind: str, language: str, text: Any
    ) -> SideInformation:
        """Side information of `train`, `train1`, …, joined and repeated as fairseq joined them."""
        joined = isinstance(text, ConcatDataset)
        shards = text.datasets if joined else [text]
        parts = [
            open_side_information(f"{prefix}.{language}", kind, shard.sizes)
            for prefix, shard in zip(prefixes, shards)
        ]
        return SideInformation.concatenate(parts, text.sample_ratios) if joined else parts[0]

    def _check_texts(self, split: str, epoch: int, combine: bool) -> list[Path]:
        """Checks a split's texts before fairseq maps them; gives their names without language."""
        source, target = self.cfg.source_lang, self.cfg.target_lang
        folder = self._data_folder(split, epoch)
        prefixes = split_prefixes(folder, split, source, target, combine)
        for prefix in prefixes:
            check_texts(prefix, {source: self.src_dict, target: self.tgt_dict})
        return prefixes

    def _side_information_kinds(self) -> list[str]:
        options = {
            "heads": self.cfg.load_dependencies,
            "phrases": self.cfg.load_phrases,
            "chunks": self.cfg.load_chunks,
        }
        return [kind for kind, wanted in options.items() if wanted]

    def _data_folder(self, split: str, epoch: int) -> Path:
        """The folder that fairseq's own task reads a split from in an epoch."""
        paths = utils.split_paths(self.cfg.data)
        if split != self.cfg.train_subset:
            paths = paths[:1]
        return Path(paths[(epoch - 1) % len(paths)])

    def _refuse_what_moves_tokens(self) -> None:
        """Refuses what shifts tokens: side information counts them from the sentence's start.

        Raises:
            UserError: names the option.
        """
        refused = {
            "--truncate-source": self.cfg.truncate_source,
            "--num-batch-buckets": self.cfg.num_batch_buckets > 0,
        }
        for option, used in refused.items():
            if used:
                raise UserError(
                    f"{option} cannot be combined with side information "
                    "(--load-dependencies, --load-phrases, --load-chunks): leave one of them out"
                )


def _phrase_parser(cfg: SyntaxTranslationConfig, dictionary: Dictionary) -> Optional[PhraseParser]:
    """The parser of `--parser-config`, found but not loaded."""
    name = cfg.parser_config
    if name is None:
        return None
    config = ParserConfig.read(name)
    parsed, source, target = map(base_language, (config.lang, cfg.source_lang, cfg.target_lang))
    if parsed == target != source:
        raise UserError(
            f"{name}: lang: parses '{config.lang}', the target language; the source, which is "
            f"parsed, is '{cfg.source_lang}': give the configuration of its parser"
        )
    return PhraseParser(config, name, dictionary)
