"""Pronounceable words that mean nothing, one sound system a language."""

from __future__ import annotations

from dataclasses import dataclass

from syntax_nmt.builtin_corpus.draw import Draw


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
