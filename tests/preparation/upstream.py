"""Small stand-ins for the data of the recipes, laid out as the publishers lay them out."""

import gzip
import io
import random
import tarfile
from dataclasses import dataclass, field
from pathlib import Path

_WORDS = {
    "en": "the a house tree man dog sees likes old small and of to in was not",
    "de": "das ein Haus Baum Mann Hund sieht mag alt klein und von zu im war nicht",
    "fr": "le un maison arbre homme chien voit aime vieux petit et de à dans fut pas",
    "zh": "房 子 树 人 狗 看 喜 欢 老 小 和 的 到 里 是 不",
    "ja": "家 木 人 犬 見 好 古 小 と の へ で だ な い る",
}
WORDS = {lang: words.split() for lang, words in _WORDS.items()}
LDC = ("LDC2002E18", "LDC2003E07", "LDC2003E14", "LDC2004T07", "LDC2004T08", "LDC2005T06")
YEARS = {2012: 5, 2013: 6, 2014: 7, 2015: 8, 2016: 9, 2017: 10}


@dataclass
class Upstream:
    """What a recipe is run on and what must come of it.

    Attributes:
        options: the recipe's, `--from` among them.
        lines: of each file of its corpus folder.
        said: what its output must contain.
    """

    options: list[str]
    lines: dict[str, int]
    said: list[str] = field(default_factory=list)


def sentences(count: int, lang: str, seed: int = 1, length: int = 8) -> list[str]:
    """Lines whose words are drawn by the same numbers in every language, and so translate."""
    rng = random.Random(seed)
    space = "" if lang in ("zh", "ja") else " "
    return [
        space.join(rng.choice(WORDS[lang]) for _ in range(length)) + f" {number}"
        for number in range(count)
    ]


def unfit(lang: str, is_source: bool, longest: int) -> list[str]:
    """Three lines to clean away: empty, too long (all words), of one word against eight."""
    words = " ".join([WORDS[lang][0] * (1 if lang not in ("zh", "ja") else 2)] * (longest + 1))
    return ["" if is_source else "x", words, "x" if is_source else "a . " * 10]


def write(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content_of(path.name, lines))


def content_of(name: str, lines: list[str]) -> bytes:
    content = "".join(f"{line}\n" for line in lines).encode()
    return gzip.compress(content) if name.endswith(".gz") else content


def write_tar(path: Path, members: dict[str, list[str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = "w" if path.suffix == ".tar" else "w:gz"
    with tarfile.open(path, mode) as archive:
        for name, lines in members.items():
            content = content_of(name, lines)
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


def sgm(lines: list[str], kind: str, system: str = "") -> list[str]:
    """A set in the style of WMT; with a system's name, one in the style of NIST's references."""
    attributes = f' sysid="{system}"' if system else ""
    segments = [f'<seg id="{n}"> {line} & more &amp; </seg>' for n, line in enumerate(lines, 1)]
    return [
        f'<{kind} setid="s">',
        f'<doc docid="d"{attributes}>',
        *segments,
        "</doc>",
        f"</{kind}>",
    ]


def newstests(folder: Path, languages: tuple[str, str], years: range) -> None:
    """The archives of WMT's test sets."""
    source, target = languages
    other = target if source == "en" else source
    for year in years:
        both = {lang: sentences(YEARS[year], lang, year) for lang in languages}
        short = str(year)[2:]
        if year < 2014:
            members = {f"test/newstest{year}-src.{la}.sgm": sgm(both[la], "srcset") for la in both}
        else:
            stem = f"newstest{year}-" + (f"{other}en" if year == 2014 else source + target)
            members = {
                f"test/{stem}-src.{source}.sgm": sgm(both[source], "srcset"),
                f"test/{stem}-ref.{target}.sgm": sgm(both[target], "refset"),
            }
        name = "test-full.tgz" if year == 2014 else "test.tgz"
        write_tar(folder / f"wmt{short}" / name, members)


def part(folder: Path, languages: tuple[str, str], archive: str, stem: str, gz: str = "") -> None:
    """An archive with one part of the training text, 40 pairs."""
    texts = {f"{stem}.{lang}{gz}": sentences(40, lang, len(archive)) for lang in languages}
    write_tar(folder / archive, texts)


def wmt(
    folder: Path, languages: tuple[str, str], news: str, longest: int, sets: dict[str, list[int]],
    *parts: tuple[str, ...],
) -> Upstream:  # fmt: skip
    """Europarl, Common Crawl and News Commentary of a year, with three pairs to clean away.

    Args:
        parts: archive and stem of what else there is.
    """
    pair = "fr-en" if "fr" in languages else "de-en"
    europarl = {
        f"training/europarl-v7.{pair}.{lang}": sentences(40, lang)
        + unfit(lang, lang == languages[0], longest)
        for lang in languages
    }
    write_tar(folder / "training-parallel-europarl-v7.tgz", europarl)
    for each in (("training-parallel-commoncrawl.tgz", f"commoncrawl.{pair}"), *parts):
        part(folder, languages, *each)
    # This one is there unpacked.
    for lang in languages:
        unpacked = folder / "training" / f"news-commentary-{news}.{pair}.{lang}.gz"
        write(unpacked, sentences(40, lang, 5))
    newstests(folder, languages, range(2012, 2018))
    kept = 120 + 40 * len(parts)
    lines = {name: sum(YEARS[year] for year in years) for name, years in sets.items()}
    said = ["left out 1: empty", f"left out 1: over the length limit ({longest} words)"]
    said += ["left out 1: over the ratio of lengths (9)", f"kept {kept} of {kept + 3} pairs"]
    return Upstream(["--from", str(folder)], {"train": kept, **lines}, said)


def wmt14_en_de(folder: Path) -> Upstream:
    return wmt(folder, ("en", "de"), "v9", 256, {"valid": [2012, 2013], "test": [2014]})


def wmt14_en_fr(folder: Path) -> Upstream:
    sets = {"valid": [2012, 2013], "test": [2014]}
    united_nations = ("training-parallel-un.tgz", "un/undoc.2000.fr-en")
    giga = ("training-giga-fren.tar", "giga-fren.release2.fixed", ".gz")
    return wmt(folder, ("en", "fr"), "v9", 256, sets, united_nations, giga)


def wmt15_de_en(folder: Path) -> Upstream:
    sets = {"valid": [2014], "test2012": [2012], "test2013": [2013]}
    return wmt(folder, ("de", "en"), "v10", 50, sets)


def wmt16_en_de(folder: Path) -> Upstream:
    return wmt(folder, ("en", "de"), "v11", 50, {"valid": [2015], "test": [2016]})


def wmt17_en_de(folder: Path) -> Upstream:
    sets = {"valid": [2014], **{f"test{year}": [year] for year in (2015, 2016, 2017)}}
    return wmt(folder, ("en", "de"), "v12", 50, sets, ("rapid2016.tgz", "rapid2016.de-en"))


def wmt17_zh_en(folder: Path) -> Upstream:
    cwmt = folder.with_name(folder.name + "-cwmt")
    for name in ("casia2015/casia2015_ch", "neu2017/NEU_cn", "datum2017/Book1_cn"):
        write(cwmt / f"{name.rpartition('_')[0]}_en.txt", sentences(40, "en"))
        write(cwmt / f"{name}.txt", sentences(40, "zh"))
    packed = gzip.compress((cwmt / "neu2017" / "NEU_en.txt").read_bytes())
    (cwmt / "neu2017" / "NEU_en.txt.gz").write_bytes(packed)  # beside the plain one: one part
    newstests(folder, ("zh", "en"), range(2017, 2018))
    source, target = sgm(sentences(4, "zh"), "srcset"), sgm(sentences(4, "en"), "refset")
    stem = "dev/newsdev2017-zhen"
    dev = {f"{stem}-src.zh.sgm": source, f"{stem}-ref.en.sgm": target}
    write_tar(folder / "wmt17" / "dev.tgz", dev)
    lines = {"train": 120, "valid": 4, "test": 10}
    return Upstream(["--from", str(folder), "--cwmt", str(cwmt)], lines)


def iwslt14(folder: Path) -> Upstream:
    members = {}
    for lang in ("de", "en"):
        about = ["<url>http://x</url>", "<keywords>a, b</keywords>", "<talkid>1</talkid>"]
        text = ["<title>Haus & Garten &amp; mehr</title>", "<description>TED</description>"]
        body = [line.capitalize() for line in sentences(90, lang)]
        members[f"de-en/train.tags.de-en.{lang}"] = [*about, *text, *body]
        for name in ("TED.dev2010", "TEDX.dev2012", "TED.tst2010", "TED.tst2011", "TED.tst2012"):
            members[f"de-en/IWSLT14.{name}.de-en.{lang}.xml"] = sgm(sentences(3, lang), "mteval")
    write_tar(folder / "de-en.tgz", members)
    return Upstream(["--from", str(folder)], {"train": 88, "valid": 4, "test": 15})


def europarl_de_en(folder: Path) -> Upstream:
    members = {f"europarl-v7.de-en.{lang}": sentences(2000, lang) for lang in ("de", "en")}
    write_tar(folder / "de-en.tgz", members)
    # Two of its sentences are in the training text, one with its words cut otherwise.
    gold = {lang: [*sentences(2, lang), sentences(1, lang, 9)[0] + "9"] for lang in ("de", "en")}
    members = {f"DeEn/{lang}": lines for lang, lines in gold.items()}
    members["DeEn/alignmentDeEn.talp"] = ["1-1 2p2"] * 3
    write_tar(folder / "DeEnGoldAlignment.tar.gz", members)
    lines = {"train": 1997, "valid": 1, "test": 3}
    return Upstream(["--from", str(folder)], lines, ["left out 2: test pairs"])


def nist_zh_en(folder: Path) -> Upstream:
    for name in LDC:
        for lang in ("zh", "en"):
            text = [line.capitalize() for line in sentences(30, lang)]
            write(folder / name / f"{name}.{lang}.gz", text)
    for number, name in enumerate(("mt02", "mt03", "mt04", "mt05", "mt06"), start=3):
        source = sgm(sentences(number, "zh"), "SRCSET")
        references = [
            line
            for system in ("E01", "E02")
            for line in sgm(sentences(number, "en", len(system)), "REFSET", system)
        ]
        for ending, lines in (("src.zh", source), ("ref.en", references)):
            path = folder / "sets" / f"{name}-{ending}.sgm"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes("\n".join(lines).encode("gb18030"))
    lines = {"train": 180, "valid": 3, "mt03": 4, "mt06": 7}
    options = ["--from", str(folder), "--encoding", "gb18030"]
    return Upstream(options, lines, ["2 references; the data-bin gets the first"])


def aspec(folder: Path) -> Upstream:
    pairs = list(zip(sentences(90, "ja"), sentences(90, "en")))
    scores = [round(1 - ((7 * n) % 90) / 100, 2) for n in range(90)]
    for number in range(3):
        rows = range(30 * number, 30 * number + 30)
        write(
            folder / "ASPEC-JE" / "train" / f"train-{number + 1}.txt",
            [f"{scores[n]} ||| A-{n} ||| {n} ||| {pairs[n][0]} ||| {pairs[n][1]}" for n in rows],
        )
    for name in ("dev", "test"):
        rows = [f"B-{n} ||| {n} ||| {ja} ||| {en}" for n, (ja, en) in enumerate(pairs[:6])]
        write(folder / "ASPEC-JE" / name / f"{name}.txt", rows)
    return Upstream(["--from", str(folder), "--pairs", "50"], {"train": 50, "valid": 6, "test": 6})


def kftt(folder: Path) -> Upstream:
    members = {}
    for kind, lang in (("tok", "ja"), ("orig", "en"), ("tok", "en"), ("orig", "ja")):
        for split, count in (("train", 60), ("dev", 5), ("tune", 4), ("test", 6)):
            name = f"kftt-data-1.0/data/{kind}/kyoto-{split}.{lang}"
            text = sentences(count, lang)
            spaced = lang == "ja" and kind == "tok"
            members[name] = [" ".join(line.replace(" ", "")) for line in text] if spaced else text
    write_tar(folder / "kftt-data-1.0.tar.gz", members)
    return Upstream(["--from", str(folder)], {"train": 60, "valid": 5, "test": 6})


def multi30k(folder: Path) -> Upstream:
    for lang in ("en", "de"):
        write(folder / f"train.{lang}.gz", [*sentences(60, lang), "" if lang == "en" else "x"])
        write(folder / f"val.{lang}", sentences(5, lang))
        write(folder / f"test2016.{lang}.gz", sentences(6, lang))
    return Upstream(
        ["--from", str(folder)],
        {"train": 60, "valid": 5, "test": 6},
        ["train.en.gz has 61 lines, not the 29000 that were expected", "left out 1: empty"],
    )


def tanaka(folder: Path) -> Upstream:
    for lang in ("en", "ja"):
        write(folder / f"train.{lang}.gz", [" ".join(line) for line in sentences(60, lang)])
        write(folder / f"dev.{lang}", sentences(5, lang))
        write(folder / f"test.{lang}", sentences(6, lang))
    return Upstream(["--from", str(folder)], {"train": 60, "valid": 5, "test": 6})


RECIPES = {
    made.__name__: made
    for made in (
        *(iwslt14, wmt14_en_de, wmt14_en_fr, wmt15_de_en, wmt16_en_de, wmt17_en_de, wmt17_zh_en),
        *(europarl_de_en, nist_zh_en, aspec, kftt, multi30k, tanaka),
    )
}
