"""What to count: kinds of buckets, and the files that they need."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from syntax_nmt.errors import UserError
from syntax_nmt.scoring.words.buckets import FORM_KINDS, KINDS, TREE_KINDS

LEAST_WORDS = 100


@dataclass(frozen=True)
class WordSettings:
    """The settings of words by bucket.

    With `source_conllu` and `links`, the buckets of :data:`~.buckets.TREE_KINDS` are those of the
    source words that a word of the reference is linked to.

    Attributes:
        by: some of :data:`~.buckets.KINDS`.
        tokenize: as of BLEU, sacrebleu's name; None = its default, 13a.
        lowercase: words that differ in case are the same.
        reference_conllu: trees of the reference.
        hypothesis_conllu: by system, trees of the translations of each run; of all systems, or of
            none.
        bits: by system, for each of its runs the bits of the words of the reference, of
            `syntax-nmt likelihood`; of all systems, or of none.
        source_conllu: trees of the source.
        links: links of the words of source and reference.
        links_base: the number of a sentence's first word in `links`, 0 or 1.
        training_text: the target side of the training text, not tokenised.
        least_words: a bucket with fewer words of the reference has no interval and no test.

    Raises:
        UserError: a kind is unknown, a file is missing, or one would not be read.
    """

    by: Sequence[str]
    tokenize: str | None = None
    lowercase: bool = False
    reference_conllu: str | None = None
    hypothesis_conllu: Mapping[str, Sequence[str]] = field(default_factory=dict)
    bits: Mapping[str, Sequence[str]] = field(default_factory=dict)
    source_conllu: str | None = None
    links: str | None = None
    links_base: int = 0
    training_text: str | None = None
    least_words: int = LEAST_WORDS

    def __post_init__(self) -> None:
        unknown = [kind for kind in self.by if kind not in KINDS]
        if unknown:
            raise UserError(f"--words-by {unknown[0]}: give some of {', '.join(KINDS)}")
        if bool(self.source_conllu) != bool(self.links):
            given, missing = ("--source-conllu", "--links")
            if self.links:
                given, missing = missing, given
            raise UserError(f"{given} needs {missing}: give both or neither")
        if self.source_conllu and self.reference_conllu:
            raise UserError(
                "--source-conllu and --reference-conllu: the buckets are those of one side: leave "
                "one out"
            )
        if self.hypothesis_conllu and not self.reference_conllu:
            raise UserError("--hypothesis-conllu needs --reference-conllu, parsed the same way")
        if self.links_base and not self.links:
            raise UserError("--links-base needs --links")
        self._check_kinds()

    def _check_kinds(self) -> None:
        of_trees = [kind for kind in self.by if kind in TREE_KINDS]
        of_forms = [kind for kind in self.by if kind in FORM_KINDS]
        has_trees = bool(self.reference_conllu or self.source_conllu)
        if of_trees and not has_trees:
            raise UserError(
                f"--words-by {of_trees[0]} needs trees: give --reference-conllu, or "
                "--source-conllu with --links"
            )
        if has_trees and not of_trees:
            option = "--source-conllu" if self.source_conllu else "--reference-conllu"
            raise UserError(f"{option} needs --words-by with some of {', '.join(TREE_KINDS)}")
        if of_forms and not self.training_text:
            raise UserError(
                f"--words-by {of_forms[0]} needs the target side of the training text: give "
                "--training-text"
            )
        if self.training_text and not of_forms:
            raise UserError(
                f"--training-text needs --words-by with some of {', '.join(FORM_KINDS)}"
            )
