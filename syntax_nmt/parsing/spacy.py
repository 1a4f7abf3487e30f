"""spaCy: a pipeline in a folder. Its package is loaded with a model, and not before.

The configuration of a pipeline names functions by which spaCy builds it, some of which load other
models and packages. Only those of :data:`_COMPONENTS` and :data:`_FUNCTIONS`, which build taggers
and parsers, are accepted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from syntax_nmt.data.dependency_tree import DependencyTree
from syntax_nmt.data.text_files import checksum, read_json
from syntax_nmt.errors import UserError, printable
from syntax_nmt.parsing.analyser import Analyser, Columns, check_device, first_sentence, tree_of
from syntax_nmt.parsing.parser import OneModel
from syntax_nmt.text.languages import plain_language

_CONFIG, _META = "config.cfg", "meta.json"
_MANY_LANGUAGES = "xx"
# What makes the columns; other components, such as `ner`, are left out.
_COMPONENTS = (
    *("tok2vec", "tagger", "morphologizer", "parser", "attribute_ruler", "lemmatizer"),
    "trainable_lemmatizer",
)
_OTHER_COMPONENTS = (
    *("ner", "senter", "sentencizer", "textcat", "textcat_multilabel", "entity_ruler"),
    *("entity_linker", "spancat", "spancat_singlelabel", "span_ruler", "merge_noun_chunks"),
    *("merge_entities", "merge_subtokens", "token_splitter", "doc_cleaner"),
)
_FUNCTIONS = re.compile(
    r"spacy\.(Tagger|TransitionBasedParser|Tok2Vec|Tok2VecListener|MultiHashEmbed|CharacterEmbed"
    r"|HashEmbedCNN|MaxoutWindowEncoder|MishWindowEncoder|Tokenizer|Vectors"
    r"|FeatureExtractor|StaticVectors|[a-z_]*scorer|[A-Za-z]+\.Tokenizer)\.v\d"
    r"|spacy\.[a-z]{2,3}\.[A-Za-z]+Tokenizer"
)
_LANGUAGE = re.compile(r"[a-z]{2,3}")


@dataclass(frozen=True)
class SpacyModel(OneModel):
    """A folder that spaCy wrote, or that of an installed package of a model."""

    parser: ClassVar[str] = "spacy"
    package: ClassVar[str] = "spacy"
    title: ClassVar[str] = "spaCy"
    what: ClassVar[str] = f"the folder of its {_CONFIG}"
    where: ClassVar[str] = "such as site-packages/en_core_web_sm of an installed model"

    @classmethod
    def _located(cls, model: Path) -> Path | None:
        """The folder, or the one in the folder of a package: `en_core_web_sm-3.8.0`."""
        if (model / _CONFIG).is_file():
            return model
        inside = sorted(path.parent for path in model.glob(f"{model.name}-*/{_CONFIG}"))
        return inside[0] if len(inside) == 1 else None

    def fingerprint(self) -> list[str]:
        """Task, language and the checksums of all files of the folder."""
        files = sorted(path for path in self.model.rglob("*") if path.is_file())
        names = [path.relative_to(self.model).as_posix() for path in files]
        return [self.task, self.lang, *names, *map(checksum, files)]

    @property
    def has_lemmas(self) -> bool:
        """Whether a lemmatiser is among the components."""
        named = _read_meta(self.model).get("components")
        return isinstance(named, list) and any("lemmatizer" in str(name) for name in named)

    @property
    def model_name(self) -> str:
        """Name and version that the folder gives itself."""
        meta = _read_meta(self.model)
        name = f"{meta.get('lang', '')}_{meta.get('name', '')} {meta.get('version', '')}"
        return printable(name[:80])


class SpacyParser(Analyser[DependencyTree]):
    """A pipeline of spaCy, loaded: one tree a line, whatever ends of sentences it would find.

    Raises:
        UserError: it does not load, is of another language, or has no parser; or there is no such
            device.
    """

    def __init__(self, found: SpacyModel, device: str = "cpu", batch_size: int = 1000) -> None:
        import spacy  # takes a second: only where it is used

        super().__init__(found.title, found.lang)
        self._batch_size = batch_size
        left_out = _checked_components(found)
        if device != "cpu":
            _use_gpu(spacy, device)
        try:
            self._pipeline = spacy.load(found.model, exclude=left_out)
        except Exception as error:  # whatever spaCy raises about a damaged or foreign folder
            raise UserError(
                f"{found}: spaCy cannot load it: {first_sentence(error)}; check that it was made "
                "with this version of spaCy"
            ) from error
        if "parser" not in {
            self._pipeline.get_pipe_meta(n).factory for n in self._pipeline.pipe_names
        }:
            raise UserError(f"{found}: has no parser: give a model that has one")

    def _analyse_all(self, sentences: Sequence[Sequence[str]]) -> list[DependencyTree | None]:
        from spacy.tokens import Doc

        vocab = self._pipeline.vocab
        spelled = map(self._spelled, sentences)
        docs = [
            # The first word begins the only sentence.
            Doc(vocab, words=words, sent_starts=[place == 0 for place, _ in enumerate(words)])
            for words in spelled
        ]
        together = max(1, self._batch_size // max(map(len, sentences), default=1))
        parsed = self._pipeline.pipe(docs, batch_size=together)
        return [tree_of(words, _columns(doc)) for words, doc in zip(sentences, parsed)]


def _columns(doc: Any) -> list[Columns]:
    return [
        Columns(
            0 if word.head.i == word.i else word.head.i + 1,
            *(word.dep_, word.pos_, word.lemma_, word.tag_, str(word.morph)),
        )
        for word in doc
    ]


def _use_gpu(spacy: Any, device: str) -> None:
    """Has spaCy work on a GPU.

    Raises:
        UserError: there is none, or the package that spaCy needs for it is missing.
    """
    check_device(device, "--device")
    try:
        spacy.require_gpu(int(device.partition(":")[2] or 0))
    except ValueError as error:
        raise UserError(f"--device {device}: spaCy: {first_sentence(error)}; or give cpu") from None


def _checked_components(found: SpacyModel) -> list[str]:
    """The components that are left out, after all checks of the folder.

    Raises:
        UserError: the folder is of another language, or its configuration is damaged, or builds
            what is not on the list.
    """
    from confection import Config

    try:
        # As spaCy reads it: a value may refer to a section elsewhere in the file.
        config = Config().from_disk(found.model / _CONFIG, interpolate=True)
        pipeline = config["nlp"]
        factories = {
            name: str(config["components"][name].get("factory")) for name in pipeline["pipeline"]
        }
        lang = str(pipeline["lang"])
    except Exception as error:  # whatever is damaged
        said = first_sentence(error)
        raise UserError(f"{found.model / _CONFIG}: is no configuration of spaCy: {said}") from None
    if _LANGUAGE.fullmatch(lang) is None or plain_language(lang) not in (
        plain_language(found.lang),
        _MANY_LANGUAGES,
    ):
        raise UserError(
            f"{found}: is of language '{lang[:20]}', the text is of language '{found.lang}': give "
            "a model of that language, or name the text's own"
        )
    left_out = [name for name, factory in factories.items() if factory in _OTHER_COMPONENTS]
    kept = {name: config["components"][name] for name in factories if name not in left_out}
    for name, component in kept.items():
        if factories[name] not in _COMPONENTS or "source" in component:
            raise UserError(
                f"{found}: component '{name[:40]}' ({factories[name][:40]}) is not among those "
                f"that are loaded here ({', '.join(_COMPONENTS)}): give a model without it, or run "
                "spaCy yourself and give its trees (docs/data.md)"
            )
    for key, value in _functions({"nlp": pipeline, "components": kept}):
        if _FUNCTIONS.fullmatch(value) is None:
            raise UserError(
                f"{found.model / _CONFIG}: {key}: '{value[:60]}' is not among the functions that "
                "build taggers and parsers: give another model"
            )
    return left_out


def _functions(section: Any, where: str = "") -> Iterator[tuple[str, str]]:
    """The registered functions that a configuration calls, and where; also those inside of lists
    and of values in braces.
    """
    inside: Iterable[tuple[Any, Any]] = ()
    if isinstance(section, Mapping):
        inside = section.items()
    elif isinstance(section, (list, tuple)):
        inside = enumerate(section)
    for key, value in inside:
        name = f"{where}.{key}" if where else str(key)
        if str(key).startswith("@"):
            yield name, str(value)
        yield from _functions(value, name)


def _read_meta(folder: Path) -> dict[str, Any]:
    try:
        return dict(read_json(folder / _META))
    except (OSError, ValueError, TypeError):
        return {}


def load_spacy(models: SpacyModel, device: str, batch_size: int) -> SpacyParser:
    """The analyser of a model.

    Args:
        device: `cpu`, `cuda` or `cuda:N`.

    Raises:
        UserError: as of :class:`SpacyParser`.
    """
    return SpacyParser(models, device, batch_size)
