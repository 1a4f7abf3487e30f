"""The words of both languages: one bilingual lexicon, the same for every corpus and every seed.

Each list stands in order of frequency. Some two hundred stems are coined once,
deterministically; function words are few and written out.
"""

from dataclasses import dataclass
from functools import cache

from syntax_nmt.builtin_corpus.draw import Draw, Zipf


@dataclass(frozen=True)
class SoundSystem:
    """The syllables of a language: an onset, a vowel, and a coda that may be empty.

    Args:
        onsets: what a syllable opens with.
        codas: what the last syllable of a word may close with.
        inner_codas: what other syllables may close with; often empty.
    """

    onsets: tuple[str, ...]
    vowels: tuple[str, ...]
    codas: tuple[str, ...]
    inner_codas: tuple[str, ...]

    def word(self, draw: Draw, syllables: int, closed: bool) -> str:
        """Coins a word.

        Args:
            draw: the stream that decides.
            syllables: how many it has.
            closed: whether it ends in a consonant.
        """
        word = ""
        for position in range(syllables):
            word += draw.one_of(self.onsets) + draw.one_of(self.vowels)
            if position < syllables - 1 and draw.chance(0.25):
                word += draw.one_of(self.inner_codas)
        return word + draw.one_of(self.codas) if closed else word


SOURCE_SOUNDS = SoundSystem(
    onsets=("b", "d", "f", "g", "l", "m", "n", "p", "r", "t", "v", "br", "tr", "gl", "st"),
    vowels=("a", "e", "i", "o", "u"),
    codas=("n", "l", "r", "m"),
    inner_codas=("n", "r", "l"),
)

TARGET_SOUNDS = SoundSystem(
    onsets=("h", "j", "k", "l", "m", "n", "p", "s", "sh", "t", "z", "y"),
    vowels=("a", "e", "i", "o", "u", "ö", "ü"),
    codas=("k", "l", "n", "sh", "t", "p"),
    inner_codas=("k", "l", "n", "s"),
)


PERSON, THING, PLACE = "person", "thing", "place"
MASCULINE, FEMININE = "Masc", "Fem"


@dataclass(frozen=True)
class Noun:
    """A noun, or a proper name.

    Args:
        source: its stem in the source language.
        target: its stem in the target language; feminine stems end in a vowel, others do not.
        kind: person, thing or place, which decides the translation of what governs it.
        gender: of the target noun; the source language has no gender.
        proper: whether it is a name, which both languages write alike.
    """

    source: str
    target: str
    kind: str
    gender: str
    proper: bool = False


@dataclass(frozen=True)
class Verb:
    """A verb.

    Args:
        source: its stem in the source language.
        target: its stem in the target language.
        target_of_person: its translation where the object is a person, or the same word again.
    """

    source: str
    target: str
    target_of_person: str


@dataclass(frozen=True)
class Modifier:
    """An adjective or adverb: a stem in each language."""

    source: str
    target: str


@dataclass(frozen=True)
class Adposition:
    """A preposition of the source, and what stands for it in the target.

    Args:
        renderings: for each kind of noun governed, the case it takes in the target and the
            postposition after it (empty: the case says it all).
    """

    source: str
    renderings: dict[str, tuple[str, str]]


GENITIVE_PREPOSITION = Adposition("de", dict.fromkeys((PERSON, THING, PLACE), ("Gen", "")))
DATIVE_PREPOSITION = Adposition("a", {PERSON: ("Dat", "")})
COMITATIVE_PREPOSITION = Adposition("kon", {PERSON: ("Gen", "mele"), THING: ("Loc", "sapi")})
NOUN_PREPOSITIONS = Zipf(
    (
        Adposition("sur", {PERSON: ("Gen", "hüt"), THING: ("Loc", ""), PLACE: ("Loc", "")}),
        Adposition("bai", {PERSON: ("Dat", "kep"), THING: ("Gen", "kep")}),
    )
)
VERB_PREPOSITIONS = Zipf(
    (
        Adposition("en", {PLACE: ("Loc", ""), THING: ("Loc", "sün")}),
        Adposition("por", {PERSON: ("Gen", "tamo"), THING: ("Dat", "")}),
        Adposition("tra", {PLACE: ("Acc", "zil"), THING: ("Gen", "zil")}),
        Adposition("ante", {PERSON: ("Loc", "jopa"), PLACE: ("Dat", "jopa")}),
    )
)
SUBORDINATORS = Zipf((("kuan", "lek"), ("perke", "nönte"), ("malgra", "hüma")))
NUMERALS = Zipf((("du", "pat"), ("tri", "sekel"), ("vin", "jöt")))


@dataclass(frozen=True)
class Lexicon:
    """Open classes, each in order of frequency."""

    nouns: dict[str, Zipf[Noun]]
    names: Zipf[Noun]
    intransitive: Zipf[Verb]
    transitive: Zipf[Verb]
    ditransitive: Zipf[Verb]
    clausal: Zipf[Verb]
    adjectives: Zipf[Modifier]
    adverbs: Zipf[Modifier]


class _Coinage:
    """Coins stems, none of them twice, nor one that another begins with.

    A stem that began another could, with an ending, be taken for it.
    """

    def __init__(self) -> None:
        self._draw = Draw("lexicon")
        self._stems: dict[SoundSystem, list[str]] = {SOURCE_SOUNDS: [], TARGET_SOUNDS: []}

    def stem(self, sounds: SoundSystem, rank: int, closed: bool) -> str:
        """A new stem; frequent words (low ranks) are shorter."""
        stems = self._stems[sounds]
        while True:
            long = self._draw.chance(0.05 if rank < 12 else 0.35)
            word = sounds.word(self._draw, 3 if long else 2, closed)
            if not any(word.startswith(other) or other.startswith(word) for other in stems):
                stems.append(word)
                return word

    def nouns(self, kind: str, size: int) -> Zipf[Noun]:
        """Nouns of one kind."""
        nouns = []
        for rank in range(size):
            feminine = self._draw.chance(0.5)
            source = self.stem(SOURCE_SOUNDS, rank, self._draw.chance(0.4))
            target = self.stem(TARGET_SOUNDS, rank, not feminine)
            nouns.append(Noun(source, target, kind, FEMININE if feminine else MASCULINE))
        return Zipf(nouns)

    def names(self, size: int) -> Zipf[Noun]:
        """Names of persons."""
        names = []
        for rank in range(size):
            feminine = self._draw.chance(0.5)
            name = self.stem(TARGET_SOUNDS, rank, not feminine).capitalize()
            gender = FEMININE if feminine else MASCULINE
            names.append(Noun(name, name, PERSON, gender, proper=True))
        return Zipf(names)

    def verbs(self, size: int, ambiguous: float = 0.0) -> Zipf[Verb]:
        """Verbs, some of them with a translation of their own before persons."""
        verbs = []
        for rank in range(size):
            source = self.stem(SOURCE_SOUNDS, rank, self._draw.chance(0.3))
            target = self.stem(TARGET_SOUNDS, rank, closed=True)
            two = self._draw.chance(ambiguous)
            other = self.stem(TARGET_SOUNDS, rank, closed=True) if two else target
            verbs.append(Verb(source, target, other))
        return Zipf(verbs)

    def modifiers(self, size: int) -> Zipf[Modifier]:
        """Adjectives or adverbs."""
        return Zipf(
            [
                Modifier(
                    self.stem(SOURCE_SOUNDS, rank, closed=False),
                    self.stem(TARGET_SOUNDS, rank, closed=True),
                )
                for rank in range(size)
            ]
        )


@cache
def lexicon() -> Lexicon:
    """The one lexicon there is."""
    coin = _Coinage()
    return Lexicon(
        nouns={
            PERSON: coin.nouns(PERSON, 32),
            THING: coin.nouns(THING, 42),
            PLACE: coin.nouns(PLACE, 16),
        },
        names=coin.names(12),
        intransitive=coin.verbs(14),
        transitive=coin.verbs(24, ambiguous=0.3),
        ditransitive=coin.verbs(8),
        clausal=coin.verbs(8),
        adjectives=coin.modifiers(22),
        adverbs=coin.modifiers(10),
    )
