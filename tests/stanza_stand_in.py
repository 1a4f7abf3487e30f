"""A stand-in for Stanza's tokeniser with its habits, bad ones included."""

import re
from types import SimpleNamespace


class StandIn:
    """Cuts every two characters and calls each paragraph that has `。` inside two sentences.

    A text with `☠` makes it raise, with `☣` it loses the paragraph, and with `☢` its last token
    reaches into the next paragraph, as Stanza's do when its offsets are off.
    """

    def __init__(self) -> None:
        trainer = SimpleNamespace(args={"shorthand": "zh_standin"})
        self.processors = {"tokenize": SimpleNamespace(trainer=trainer)}
        self.texts: list[str] = []

    def __call__(self, text: str) -> SimpleNamespace:
        self.texts.append(text)
        if "☠" in text:
            raise AssertionError("☠")
        sentences = []
        for paragraph in re.finditer(r"[^\n]+", text):
            if "☣" in paragraph.group():
                continue
            tokens = [
                SimpleNamespace(start_char=match.start(), end_char=match.end())
                for match in re.compile(r"[^ ]{1,2}").finditer(text, *paragraph.span())
            ]
            if "☢" in paragraph.group():
                tokens[-1].end_char += 3
            middle = paragraph.group().find("。") + paragraph.start() + 1
            for part in (
                [token for token in tokens if token.start_char < middle],
                [token for token in tokens if token.start_char >= middle],
            ):
                if part:
                    sentences.append(SimpleNamespace(tokens=part))
        return SimpleNamespace(sentences=sentences)
