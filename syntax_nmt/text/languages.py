"""The sides of a translation, and language codes: one language can have several, with or without
script and region.
"""

import re

SOURCE, TARGET = "source", "target"

# Codes of two letters go by ISO 639-1, those of three by 639-2, and by 639-3 for some languages
# that stand for their group. Not here: `sme`, by which Stanza calls its models, and `asm guj kan
# mal ori pan`, whose text earlier versions cut without the rules that Moses has for it.
_THREE_LETTERS = (
    "aar-aa abk-ab afr-af aka-ak alb-sq amh-am ara-ar arg-an arm-hy ava-av ave-ae aym-ay aze-az "
    "bak-ba bam-bm baq-eu bel-be ben-bn bih-bh bis-bi bod-bo bos-bs bre-br bul-bg bur-my cat-ca "
    "ces-cs cha-ch che-ce chi-zh chu-cu chv-cv cmn-zh cor-kw cos-co cre-cr cym-cy cze-cs dan-da "
    "deu-de div-dv dut-nl dzo-dz ell-el eng-en epo-eo est-et eus-eu ewe-ee fao-fo fas-fa fij-fj "
    "fin-fi fra-fr fre-fr fry-fy ful-ff geo-ka ger-de gla-gd gle-ga glg-gl glv-gv gre-el grn-gn "
    "hat-ht hau-ha heb-he her-hz hin-hi hmo-ho hrv-hr hun-hu hye-hy ibo-ig ice-is ido-io iii-ii "
    "iku-iu ile-ie ina-ia ind-id ipk-ik isl-is ita-it jav-jv jpn-ja kal-kl kas-ks kat-ka kau-kr "
    "kaz-kk khm-km kik-ki kin-rw kir-ky kom-kv kon-kg kor-ko kua-kj kur-ku lao-lo lat-la lav-lv "
    "lim-li lin-ln lit-lt ltz-lb lub-lu lug-lg lvs-lv mac-mk mah-mh mao-mi mar-mr may-ms mkd-mk "
    "mlg-mg mlt-mt mon-mn mri-mi msa-ms mya-my nau-na nav-nv nbl-nr nde-nd ndo-ng nep-ne nld-nl "
    "nno-nn nob-nb nor-no nya-ny oci-oc oji-oj orm-om oss-os per-fa pes-fa pli-pi pol-pl por-pt "
    "pus-ps que-qu roh-rm ron-ro rum-ro run-rn rus-ru sag-sg san-sa sin-si slk-sk slo-sk slv-sl "
    "smo-sm sna-sn snd-sd som-so sot-st spa-es sqi-sq srd-sc srp-sr ssw-ss sun-su swa-sw swe-sv "
    "tah-ty tam-ta tat-tt tel-te tgk-tg tgl-tl tha-th tib-bo tir-ti ton-to tsn-tn tso-ts tuk-tk "
    "tur-tr twi-tw uig-ug ukr-uk urd-ur uzb-uz ven-ve vie-vi vol-vo wel-cy wln-wa wol-wo xho-xh "
    "yid-yi yor-yo zha-za zho-zh zul-zu"
)
_TWO_LETTERS = dict(pair.split("-") for pair in _THREE_LETTERS.split())


def base_language(lang: str) -> str:
    """The language of a code, without script and region: `zh` of `zh_TW` and of `ZH-Hans-CN`.

    Args:
        lang: language code.
    """
    return re.split("[-_]", lang)[0].lower()


def plain_language(lang: str) -> str:
    """The two-letter code if the language has one, with few exceptions, without script and region.

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
