"""The sides of a translation, and language codes: one language can have several, with or without
script and region.
"""

import re

SOURCE, TARGET = "source", "target"

# Codes of two letters go by ISO 639-1, those of three by 639-2 and 639-3.
_THREE_LETTERS = (
    "ara-ar ben-bn bul-bg cat-ca ces-cs cze-cs chi-zh cmn-zh zho-zh dan-da deu-de ger-de dut-nl "
    "nld-nl ell-el gre-el eng-en est-et eus-eu baq-eu fas-fa per-fa pes-fa fin-fi fra-fr fre-fr "
    "gle-ga glg-gl heb-he hin-hi hrv-hr hun-hu hye-hy arm-hy ice-is isl-is ind-id ita-it jpn-ja "
    "kaz-kk khm-km kor-ko lao-lo lat-la lav-lv lvs-lv lit-lt mar-mr mya-my bur-my nno-nn nob-nb "
    "pol-pl por-pt ron-ro rum-ro rus-ru slk-sk slo-sk slv-sl spa-es srp-sr swe-sv tam-ta tel-te "
    "tha-th tur-tr ukr-uk urd-ur vie-vi"
)
_TWO_LETTERS = dict(pair.split("-") for pair in _THREE_LETTERS.split())


def base_language(lang: str) -> str:
    """The language of a code, without script and region: `zh` of `zh_TW` and of `ZH-Hans-CN`.

    Args:
        lang: language code.
    """
    return re.split("[-_]", lang)[0].lower()


def plain_language(lang: str) -> str:
    """The two-letter code if the language has one, without script and region.

    Models and text have the same language if this code is equal: `en` of `en_US`, `eng` and `EN`.

    Args:
        lang: language code.
    """
    base = base_language(lang)
    return _TWO_LETTERS.get(base, base)


def is_english(lang: str) -> bool:
    """Whether a language code is one of English: `en`, `en_US`, `en-GB`, `eng`.

    Args:
        lang: language code.
    """
    return plain_language(lang) == "en"
