"""Dependency trees, constituency trees and chunks by Stanza; the analyser of each task."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from syntax_nmt.data.chunks import OUTSIDE, Chunk, chunks_of_tags
from syntax_nmt.data.constituents import escape_word
from syntax_nmt.data.dependency_tree import DependencyTree, MultiwordRange
from syntax_nmt.parsing.analyser import OPENING_QUOTE, Analyser, Analysis, check_device, penn_words
from syntax_nmt.parsing.stanza.models import StanzaModels
from syntax_nmt.parsing.stanza.offline import NEXT_STEP, check_language, one_thread, open_pipeline

WORDS = {"word", "delta"}  # names of the vocabulary of words, of which a tagger has one


class StanzaAnalyser(Analyser[Analysis]):
    """A Stanza pipeline of one task, loaded.

    Args:
        models: what to load.
        device: `cpu`, `cuda` or `cuda:N`.
        batch_size: words in a batch. Small batches of even length are the fastest on a CPU.

    Raises:
        UserError: there is no such device, or the models do not load or are of another language.
    """

    def __init__(self, models: StanzaModels, device: str = "cpu", batch_size: int = 1000) -> None:
        check_device(device, "--device")
        super().__init__(models.title, models.lang, NEXT_STEP)
        self._pipeline = _load(models, device, batch_size)
        self._processors = self._pipeline.processors
        for name, processor in self._processors.items():
            if name != "tokenize":
                check_language(processor, self.lang, f"the models {models} are")

    def knows(self, word: str) -> bool | None:
        """Whether the training text of the tagger has a word; None = it does not say."""
        tagger = self._processors.get("pos") or self._processors.get("ner")
        names = WORDS & tagger.vocab.keys()
        (spelled,) = self._spelled([word])
        return any(spelled in tagger.vocab[name] for name in names) if names else None

    def _alone(self) -> AbstractContextManager[Any]:
        return one_thread()

    def _analyse_all(self, sentences: Sequence[Sequence[str]]) -> list[Analysis | None]:
        spelled = [self._spelled(words) for words in sentences]
        document = self._pipeline(self._input(spelled))
        if len(document.sentences) != len(sentences):
            raise ValueError(f"{len(document.sentences)} analyses of {len(sentences)} sentences")
        return [
            self._analysis(sentence, words)
            for sentence, words in zip(document.sentences, sentences)
        ]

    def _input(self, sentences: list[list[str]]) -> Any:
        """The input of the pipeline: lists of words, unless the task needs more."""
        return sentences

    @abstractmethod
    def _analysis(self, sentence: Any, words: Sequence[str]) -> Analysis | None:
        """The result of one sentence in this project's form; None if it does not fit the words."""


def _load(models: StanzaModels, device: str, batch_size: int) -> Any:
    options: dict[str, Any] = {
        "lang": models.lang,
        "processors": ",".join(models.processors),
        "device": device,
        "tokenize_pretokenized": True,
        "pos_batch_size": batch_size,
        "pos_batch_maximum_tokens": batch_size,
        "depparse_batch_size": batch_size,
        "depparse_check_requirements": False,
        **{name: str(path) for name, path in models.files},
    }
    if "ner" in models.processors:
        # If omitted, Stanza uses its own and finds nothing to load.
        options |= dict.fromkeys(
            ("ner_pretrain_path", "ner_forward_charlm_path", "ner_backward_charlm_path"), ""
        )
    return open_pipeline(models, models.stanza_dir, **options)


class DependencyParser(StanzaAnalyser[DependencyTree]):
    """A tagger and a dependency parser.

    If there is a model of multiword tokens, known multiword tokens are parsed as their words (`zum`
    as `zu dem`, as in the parser's training data) and joined again in the tree
    (:meth:`~syntax_nmt.data.dependency_tree.DependencyTree.collapse`).
    """

    def _input(self, sentences: list[list[str]]) -> Any:
        expander = self._processors.get("mwt")
        if expander is None:
            return sentences
        from stanza.models.common.doc import Document

        def token(word: str) -> dict[str, str]:
            # Known are the multiword tokens of the treebank that the expander was trained on.
            known = expander.trainer.dict_expansion(word) is not None
            return {"text": word, "misc": "MWT=Yes"} if known else {"text": word}

        return Document([[token(word) for word in words] for words in sentences])

    def _analysis(self, sentence: Any, words: Sequence[str]) -> DependencyTree | None:
        """The tree over the corpus's words; None if it has not one node a word and one root."""
        found = sentence.words
        if len(sentence.tokens) != len(words) or sum(word.head == 0 for word in found) != 1:
            return None
        tree = DependencyTree(
            words=tuple(word.text for word in found),
            heads=tuple(i if word.head == 0 else word.head - 1 for i, word in enumerate(found)),
            relations=tuple(word.deprel or "dep" for word in found),
            upos=tuple(word.upos or "X" for word in found),
            lemmas=tuple(word.lemma or "_" for word in found),
            xpos=tuple(word.xpos or "_" for word in found),
            feats=tuple(word.feats or "_" for word in found),
            multiword=tuple(_ranges(sentence.tokens)),
        )
        return tree.collapse(len(words)) if tree.multiword else tree


def _ranges(tokens: Sequence[Any]) -> list[MultiwordRange]:
    """The tokens that stand for several words. Stanza counts words from 1."""
    spans = [(token.words[0].id - 1, token.words[-1].id, token.text) for token in tokens]
    return [MultiwordRange(*span) for span in spans if span[1] - span[0] > 1]


class ConstituencyParser(StanzaAnalyser[str]):
    """A tagger and a constituency parser; a tree is one line of bracketed text."""

    def _analysis(self, sentence: Any, words: Sequence[str]) -> str | None:
        """The tree over the corpus's words; None if it does not have one leaf a word."""
        tree = sentence.constituency
        if tree is None or len(list(tree.leaf_labels())) != len(words):
            return None
        return "".join(_brackets(tree, iter(words)))


def _brackets(tree: Any, words: Iterator[str]) -> Iterator[str]:
    """The text of a tree piece by piece, its words replaced in order; deep trees are no trouble."""
    waiting: list[Any] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            yield node
        elif not node.children:
            yield escape_word(next(words))
        else:
            yield f"({node.label} "
            waiting.append(")")
            for position, child in enumerate(reversed(node.children)):
                if position:
                    waiting.append(" ")
                waiting.append(child)


class ChunkTagger(StanzaAnalyser[tuple[Chunk, ...]]):
    """A sequence tagger that was trained on chunks (`syntax-nmt chunk --train`).

    Trained on CoNLL-2000 it knows quotes and brackets by their names in the Penn Treebank; it gets
    them in this form, for any form in the corpus.
    """

    def _spelled(self, words: Sequence[str]) -> list[str]:
        spelled = super()._spelled(words)
        vocabulary = self._processors["ner"].vocab  # of pretrained words, or of those trained on
        known = any(OPENING_QUOTE in vocabulary[name] for name in WORDS & vocabulary.keys())
        return penn_words(spelled) if known else spelled

    def _analysis(self, sentence: Any, words: Sequence[str]) -> tuple[Chunk, ...] | None:
        """The chunks that the tags spell; None if there is not one tag a word."""
        if len(sentence.tokens) != len(words):
            return None
        return chunks_of_tags(token.ner or OUTSIDE for token in sentence.tokens)


ANALYSERS: dict[str, type[StanzaAnalyser]] = {
    "dependencies": DependencyParser,
    "constituents": ConstituencyParser,
    "chunks": ChunkTagger,
}


def load_stanza(models: StanzaModels, device: str, batch_size: int) -> StanzaAnalyser:
    """The analyser of the models' task.

    Raises:
        UserError: as of :class:`StanzaAnalyser`.
    """
    return ANALYSERS[models.task](models, device, batch_size)
