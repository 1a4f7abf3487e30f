"""A blind sheet: translations that raters mark without knowing whose they are, and its key.

Of each sentence the translations of all systems stand in a random order, without their names; equal
ones stand there once. As in Tu et al. (2016) and the bi-scale decoder's Table 5, a translation has
four marks: adequacy and fluency from 0 to 5, and whether something is under-translated or
over-translated.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, groupby

from syntax_nmt.data.text_files import parse_json, read_lines
from syntax_nmt.errors import UserError
from syntax_nmt.reporting.findings import TSV, Table
from syntax_nmt.reporting.result import Result
from syntax_nmt.scoring.translations.evaluation_set import TestSet, Text, words_of


@dataclass(frozen=True)
class Criterion:
    """What is marked.

    Attributes:
        column: of the sheet.
        name: in tables.
        highest: marks are the whole numbers from 0 to this; 1 = no or yes, in percent of yes.
        question: for raters.
        higher_is_better: whether a rise is good.
    """

    column: str
    name: str
    highest: int
    question: str
    higher_is_better: bool = True


CRITERIA = (
    Criterion("adequacy", "adequacy", 5, "how much of the meaning is there: 0 none, 5 all"),
    Criterion("fluency", "fluency", 5, "how well it reads: 0 not at all, 5 flawless"),
    Criterion("under", "under-translation", 1, "1: something of the source is missing", False),
    Criterion("over", "over-translation", 1, "1: something is there twice or too much", False),
)


@dataclass(frozen=True)
class SheetItem:
    """A translation to mark.

    Attributes:
        item: its name.
        line: of the sentence in its file, from 1.
        systems: that translate so.
        source: the sentence.
        reference: a translation of it by a person; None = not shown.
        translation: to mark.
    """

    item: str
    line: int
    systems: tuple[str, ...]
    source: str
    reference: str | None
    translation: str


@dataclass
class KeyItem(Result):
    """Whose translation an item is.

    Attributes:
        item: its name on the sheet.
        line: of the sentence in its file, from 1.
        systems: that translate so.
    """

    item: str
    line: int
    systems: list[str]


@dataclass
class Key(Result):
    """What the raters do not see.

    Attributes:
        sheet: the name that all items begin with.
        systems: in the order of tables, the baseline first.
        items: of the sheet, in its order.
    """

    sheet: str
    systems: list[str]
    items: list[KeyItem]

    @classmethod
    def read(cls, path: str) -> Key:
        """The key of a file.

        Raises:
            UserError: it is no key, or not each system translates each sentence once.
        """
        wanted = "key.json of a sheet that syntax-nmt rate wrote"
        content = parse_json("\n".join(read_lines(path)), path, wanted)
        try:
            found = cls.from_json(content)
        except ValueError as error:
            raise UserError(f"{path}: not a key ({error}): give {wanted}") from None
        systems: dict[int, list[str]] = {}
        for each in found.items:
            systems.setdefault(each.line, []).extend(each.systems)
        for line, names in systems.items():
            if sorted(names) != sorted(set(found.systems)):
                raise UserError(
                    f"{path}: not a key (sentence {line} has translations of "
                    f"{', '.join(names) or 'no system'}, the sheet of "
                    f"{', '.join(found.systems)}): give {wanted}"
                )
        return found


@dataclass(frozen=True)
class Sheet:
    """A blind sheet.

    Attributes:
        name: of the sheet.
        systems: in the order of tables.
        items: those of a sentence one after the other, the sentences in random order.
    """

    name: str
    systems: Sequence[str]
    items: Sequence[SheetItem]

    @classmethod
    def draw(cls, test_set: TestSet, sentences: int, seed: int, show_reference: bool) -> Sheet:
        """Draws sentences of a test set whose source is known, and the order of all.

        Texts in pieces are shown in words.

        Args:
            sentences: how many; all, if there are fewer.

        Raises:
            UserError: fewer than two systems, one with several runs, or damaged pieces.
        """
        systems = test_set.systems
        if len(systems) < 2:
            raise UserError("one system: give the baseline first, then those to compare with it")
        several = [system.name for system in systems if len(system.runs) > 1]
        if several:
            raise UserError(f"--system {several[0]}: has several files: give one of them")
        drawing = random.Random(seed)
        lines = drawing.sample(range(test_set.sentences), min(sentences, test_set.sentences))
        translations = [_shown(each.runs[0]) for each in systems]
        reference = _shown(test_set.references[0]) if show_reference else None
        texts = [*test_set.source_words, *chain.from_iterable(translations)]
        digest = hashlib.sha256("\n".join([str(seed), str(lines), *texts]).encode()).hexdigest()
        items: list[SheetItem] = []
        for number, line in enumerate(lines, start=1):
            written: dict[str, list[str]] = {}
            for system, sentences_of in zip(systems, translations):
                written.setdefault(sentences_of[line], []).append(system.name)
            shuffled = drawing.sample(list(written), len(written))
            for place, translation in enumerate(shuffled, start=1):
                items.append(
                    SheetItem(
                        f"{digest[:4]}-{number:03}-{place}",
                        line + 1,
                        tuple(written[translation]),
                        test_set.source_words[line],
                        None if reference is None else reference[line],
                        translation,
                    )
                )
        return cls(digest[:4], [system.name for system in systems], items)

    def key(self) -> Key:
        """Whose translations the items are."""
        items = [KeyItem(each.item, each.line, list(each.systems)) for each in self.items]
        return Key(self.name, list(self.systems), items)

    def tsv(self) -> str:
        """The sheet as a table, whose last columns are to be filled in."""
        shown = any(item.reference is not None for item in self.items)
        head = ["item", "source", *["reference"] * shown, "translation"]
        head += [criterion.column for criterion in CRITERIA]
        rows = []
        for each in self.items:
            texts = [each.source, *[each.reference or ""] * shown, each.translation]
            rows.append([each.item, *(" ".join(text.split()) for text in texts), *[""] * 4])
        return Table(head, rows).render(TSV) + "\n"

    def sentences(self) -> list[list[SheetItem]]:
        """The items of each sentence."""
        return [list(items) for _, items in groupby(self.items, lambda item: item.line)]


def _shown(text: Text) -> Sequence[str]:
    """The sentences in words, with single spaces."""
    return [" ".join(sentence.split()) for sentence in words_of(text).sentences]
