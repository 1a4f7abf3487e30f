import gc
import random
import re
import time
from itertools import islice

import pytest
from stanza_pipeline import stanza_pipeline

from syntax_nmt.data.base_chunks import base_chunks
from syntax_nmt.data.chunks import chunks_of_tags
from syntax_nmt.data.conll2000 import read_conll2000
from syntax_nmt.data.constituents import parse_tree, read_trees
from syntax_nmt.scoring.chunks.chunk_f1 import chunk_f1


def drawn(bracketed):
    """`[NP the cat] [VP sleeps] .`"""
    tree = parse_tree(bracketed, "f", 1)
    texts = []
    for tag, start, end in base_chunks(tree):
        words = " ".join(tree.words[start:end])
        texts.append(words if tag == "O" else f"[{tag} {words}]")
    return " ".join(texts)


# Examples of Tjong Kim Sang and Buchholz (2000), section 2, and what the data of the task show.
EXAMPLES = {
    "possessive": (
        "(NP (NP (NNP Eastern) (NNPS Airlines) (POS ')) (NNS creditors))",
        "[NP Eastern Airlines] [NP ' creditors]",
    ),
    "possessives": (
        "(NP (NP (NP (DT the) (NN girl) (POS 's)) (NN cat) (POS 's)) (JJ long) (NN tail))",
        "[NP the girl] [NP 's cat] [NP 's long tail]",
    ),
    "possessive without a phrase": (
        "(NP (NNP McDonald) (POS 's))",
        "[NP McDonald] [NP 's]",
    ),
    "phrase after possessive": (
        "(NP (NP (NN bank) (POS 's)) (ADJP (RBS most) (JJ recent)) (NN spate))",
        "[NP bank] [NP 's] [ADJP most recent] [NP spate]",
    ),
    "possessor of a part": (
        "(NP (NP (DT the) (NN day) (POS 's)) (NML (NN oil) (NN price)) (NN rise))",
        "[NP the day] [NP 's oil price rise]",
    ),
    "adjectives in a noun phrase": (
        "(NP (DT The) (ADJP (RBS most) (JJ volatile)) (NN form))",
        "[NP The most volatile form]",
    ),
    "quantity": (
        "(NP (QP (RBR more) (IN than) (CD 100)) (JJ such) (NNS funds))",
        "[NP more than 100 such funds]",
    ),
    "quantity alone": ("(NP (QP (IN about) ($ $) (CD 5) (CD million)))", "[NP about $ 5 million]"),
    "head of several words": (
        "(NP (DT the) (NML (NN oil) (NN price)) (PP (IN in) (NP (NNP May))))",
        "[NP the oil price] [PP in] [NP May]",
    ),
    "flat coordination": (
        "(NP (NN trucking) (, ,) (NN shipping) (CC and) (NN mining))",
        "[NP trucking , shipping and mining]",
    ),
    "coordinated phrases": (
        "(NP (NP (DT the) (NN cat)) (CC and) (NP (DT the) (NN dog)))",
        "[NP the cat] and [NP the dog]",
    ),
    "both before a phrase": (
        "(NP (DT both) (NP (NN cats)) (CC and) (NP (JJ old) (NN dogs)))",
        "[NP both] [NP cats] and [NP old dogs]",
    ),
    "modifiers after the head": (
        "(NP (NP (NNS shares) (ADJP (JJ outstanding))) (PP (IN in) (NP (NNP May))))",
        "[NP shares] [ADJP outstanding] [PP in] [NP May]",
    ),
    "words cut off from the head": (
        "(NP (NNP Chancellor) (PP (IN of) (NP (DT the) (NNP Exchequer))) (NNP N.) (NNP Lawson))",
        "Chancellor [PP of] [NP the Exchequer] [NP N. Lawson]",
    ),
    "one chain of verbs": (
        "(S (NP-SBJ-3 (NNP Mr.) (NNP Icahn)) (VP (MD may) (RB not) (VP (VB want) (S (NP-SBJ "
        "(-NONE- *-3)) (VP (TO to) (VP (VB sell)))))) (. .))",
        "[NP Mr. Icahn] [VP may not want to sell] .",
    ),
    "verb phrases side by side": (
        "(S (NP (NP (DT The) (NN impression)) (SBAR (S (NP (PRP I)) (VP (VBP have) (VP (VBN got))))"
        ")) (VP (VBZ is) (SBAR (S (NP (PRP they)) (VP (MD 'd) (VP (VB love) (S (VP (TO to) (VP (VB "
        "do) (PRT (RP away)) (PP (IN with) (NP (PRP it))))))))))))",
        "[NP The impression] [NP I] [VP have got] [VP is] [NP they] [VP 'd love to do] [PRT away] "
        "[PP with] [NP it]",
    ),
    "adverbs among verbs": (
        "(VP (MD could) (ADVP (RB very) (RB well)) (VP (VB show) (ADVP (RB again))))",
        "[VP could very well show] [ADVP again]",
    ),
    "adverb before the verb": (
        "(S (NP (PRP It)) (VP (ADVP (RB virtually)) (VBZ disappears)))",
        "[NP It] [VP virtually disappears]",
    ),
    "adverb of the clause": (
        "(S (NP (PRP We)) (ADVP (RB also)) (VP (VBD left)))",
        "[NP We] [ADVP also] [VP left]",
    ),
    "negation without another verb": (
        "(S (NP (EX there)) (VP (VBP are) (RB n't) (NP (NNS problems))))",
        "[NP there] [VP are] n't [NP problems]",
    ),
    "negation of a clause": (
        "(VP (VBD decided) (S (RB not) (VP (TO to) (VP (VB go)))))",
        "[VP decided] not [VP to go]",
    ),
    "gerund complement": (
        "(VP (VBD began) (S (VP (VBG producing) (NP (NN heat)))))",
        "[VP began producing] [NP heat]",
    ),
    "adverbial clause": (
        "(VP (VBD moved) (ADVP (RB quickly)) (S-PRP (VP (TO to) (VP (VB help)))))",
        "[VP moved] [ADVP quickly] [VP to help]",
    ),
    "adverb before a complement": (
        "(VP (VBG trying) (ADVP (RB unsuccessfully)) (S (VP (TO to) (VP (VB sell)))))",
        "[VP trying unsuccessfully to sell]",
    ),
    "predicative clause": (
        "(S (NP (DT The) (NN aim)) (VP (VBZ is) (S-PRD (VP (TO to) (VP (VB win))))))",
        "[NP The aim] [VP is] [VP to win]",
    ),
    "clause with a subject": (
        "(VP (VBZ wants) (S (NP (PRP him)) (VP (TO to) (VP (VB go)))))",
        "[VP wants] [NP him] [VP to go]",
    ),
    "coordinated verbs": (
        "(VP (MD will) (VP (VB buy) (CC or) (VB sell) (NP (NNS cars))))",
        "[VP will buy or sell] [NP cars]",
    ),
    "coordinated verb phrases": (
        "(VP (MD will) (VP (VP (VB come)) (CC and) (RB then) (VP (VB see))))",
        "[VP will come] and then [VP see]",
    ),
    "verbs after an interruption": (
        "(VP (VBD had) (, ,) (ADVP (RB kindly)) (, ,) (VP (VBN set) (PRT (RP out))))",
        "[VP had] , [ADVP kindly] , [VP set] [PRT out]",
    ),
    "coordinated verb after something else": (
        "(VP (VBD saw) (NP (PRP me)) (CC and) (VBD left))",
        "[VP saw] [NP me] and [VP left]",
    ),
    "verb after something else": (
        "(VP (VBD were) (VP (NP (JJ critical) (NN point)) (VBN dried)))",
        "[VP were] [NP critical point] [VP dried]",
    ),
    "predicative adjective": (
        "(S (NP (PRP they)) (VP (VBP are) (ADJP (RB very) (JJ unhappy))))",
        "[NP they] [VP are] [ADJP very unhappy]",
    ),
    "inversion": (
        "(SINV (CONJP (RB Not) (RB only)) (VBZ does) (NP (PRP$ your) (NN product)) (VP (VB have) "
        "(S (NP (-NONE- *-1)) (VP (TO to) (VP (VB be) (ADJP (JJ excellent)))))) (, ,))",
        "[CONJP Not only] does [NP your product] [VP have to be] [ADJP excellent] ,",
    ),
    "noun phrase in an adverb phrase": (
        "(ADVP-TMP (NP (DT a) (NN year)) (RBR earlier))",
        "[NP a year] [ADVP earlier]",
    ),
    "noun phrase in an adjective phrase": (
        "(ADJP-PRD (NP (CD 68) (NNS years)) (JJ old))",
        "[NP 68 years] [ADJP old]",
    ),
    "adverb phrase in an adjective phrase": (
        "(ADJP (ADVP (RB far) (RBR more)) (JJ partial) (PP (IN to) (NP (NN gold))))",
        "[ADJP far more partial] [PP to] [NP gold]",
    ),
    "coordinated adjectives": (
        "(ADJP (JJ sharp) (CC and) (JJ quick))",
        "[ADJP sharp and quick]",
    ),
    "prepositions of several words": (
        "(PP (IN because) (IN of) (NP (NN rain)))",
        "[PP because of] [NP rain]",
    ),
    "such as": ("(PP (JJ such) (IN as) (NP (NN oil)))", "[PP such as] [NP oil]"),
    "modified preposition": (
        "(PP (RB even) (IN in) (NP (NNP May)))",
        "[PP even in] [NP May]",
    ),
    "phrase before a preposition": (
        "(PP (ADVP (RB only)) (IN by) (NP (NN rain)))",
        "[ADVP only] [PP by] [NP rain]",
    ),
    "coordinated prepositions": (
        "(PP (IN at) (CC or) (IN below) (NP (DT the) (NN price)))",
        "[PP at or below] [NP the price]",
    ),
    "nested prepositions": (
        "(PP (VBG according) (PP (TO to) (NP (PRP us))))",
        "[PP according] [PP to] [NP us]",
    ),
    "complementiser": (
        "(VP (VBP say) (SBAR (IN that) (S (NP (PRP we)) (VP (VBP win)))))",
        "[VP say] [SBAR that] [NP we] [VP win]",
    ),
    "modified complementiser": (
        "(SBAR (RB even) (IN though) (S (NP (PRP we)) (VP (VBP win))))",
        "[SBAR even though] [NP we] [VP win]",
    ),
    "in order to": (
        "(SBAR (IN in) (NN order) (S (VP (TO to) (VP (VB win)))))",
        "[SBAR in] order [VP to win]",
    ),
    "relative pronouns": (
        "(NP (NP (DT the) (NN man)) (SBAR (WHNP-1 (WP who)) (S (VP (VBD left)))))",
        "[NP the man] [NP who] [VP left]",
    ),
    "relative adverb": (
        "(SBAR (WHADVP (WRB when)) (S (NP (PRP we)) (VP (VBP win))))",
        "[ADVP when] [NP we] [VP win]",
    ),
    "preposition and relative pronoun": (
        "(SBAR (WHPP (IN in) (WHNP (WDT which))) (S (NP (PRP we)) (VP (VBP win))))",
        "[PP in] [NP which] [NP we] [VP win]",
    ),
    "question": (
        "(SBARQ (WHADVP (WRB How)) (SQ (MD could) (NP (PRP I)) (VP (VB know))) (. ?))",
        "[ADVP How] could [NP I] [VP know] ?",
    ),
    "conjunction of several words": (
        "(NP (NP (NNS goods)) (CONJP (RB as) (RB well) (IN as)) (NP (NNS services)))",
        "[NP goods] [CONJP as well as] [NP services]",
    ),
    "list item": (
        "(S (LST (-LRB- -LRB-) (LS a) (-RRB- -RRB-)) (VP (VB Go)) (. .))",
        "( [LST a] ) [VP Go] .",
    ),
    "interjection": (
        "(S (INTJ (UH Oh) (, ,) (UH yes)) (, ,) (VP (VB go)))",
        "[INTJ Oh , yes] , [VP go]",
    ),
    "unlike coordination": ("(UCP (NN wine) (CC and) (JJ hot))", "[UCP wine and hot]"),
    "quoted part": (
        "(NP (`` ``) (JJ heavy) ('' '') (NN water))",
        "[NP `` heavy '' water]",
    ),
    "quoted whole": ("(NP (`` ``) (NN control) ('' ''))", "`` [NP control] ''"),
    "comma before a second part": (
        "(NP (NN X) (PRN (-LRB- -LRB-) (NP (NN Y)) (-RRB- -RRB-)) (, ,) (NN Z))",
        "X ( [NP Y] ) , [NP Z]",
    ),
    "words of a clause": ("(S (IN so) (NP (PRP we)) (VP (VBP win)))", "so [NP we] [VP win]"),
    "labels with functions": (
        "(S (NP-SBJ=2 (PRP We)) (VP|x (VBP win) (ADVP-TMP-CLR (RB now))))",
        "[NP We] [VP win] [ADVP now]",
    ),
    "no verb in a verb phrase": (
        "(VP (NN account) (NP (NN deficit)))",
        "[VP account] [NP deficit]",
    ),
    "one word": ("(NN cat)", "cat"),
    "words without a part of speech": ("(NP the cat)", "[NP the cat]"),
}


@pytest.mark.parametrize("example", EXAMPLES)
def test_rules(example):
    bracketed, expected = EXAMPLES[example]
    assert drawn(bracketed) == expected


def check_chunks(tree):
    """Chunks cover the words in order, and each lies inside a phrase of its own type."""
    chunks = base_chunks(tree)
    assert [chunk.start for chunk in chunks] == [0, *(chunk.end for chunk in chunks[:-1])]
    assert chunks[-1].end == len(tree)
    families = {"NP": ("NP", "WHNP", "NX", "NML", "NAC", "QP"), "PP": ("PP", "WHPP")}
    spans = {}
    for node in tree.nodes:
        if not node.leaf:
            spans.setdefault(re.split("[-=]", node.label)[0], []).append((node.start, node.end))
    for tag, start, end in chunks:
        assert end > start
        if tag == "O":
            assert end == start + 1
            continue
        labels = families.get(tag, (tag, f"WH{tag}"))
        assert any(s <= start and end <= e for label in labels for s, e in spans.get(label, ()))


PHRASES = [
    "S",
    "SBAR",
    "NP",
    "NP",
    "NP",
    "VP",
    "VP",
    "PP",
    "ADJP",
    "ADVP",
    "QP",
    "NML",
    "PRN",
    "PRT",
]
PHRASES += ["CONJP", "UCP", "X", "INTJ", "LST", "WHNP", "FRAG", "NX"]
WORDS = [
    "DT",
    "JJ",
    "NN",
    "NNS",
    "POS",
    "VB",
    "VBD",
    "MD",
    "TO",
    "RB",
    "IN",
    "CC",
    "CD",
    "PRP",
    "RP",
]
WORDS += [",", ".", "``", "''", "-LRB-", "-RRB-", "WDT"]


def random_tree(rng, depth=0):
    if depth > 6 or rng.random() < 0.3:
        return f"({rng.choice(WORDS)} w)"
    inside = " ".join(random_tree(rng, depth + 1) for _ in range(rng.randint(1, 4)))
    return f"({rng.choice(PHRASES)} {inside})"


def test_any_tree_is_covered():
    rng = random.Random(1)
    for _ in range(2000):
        check_chunks(parse_tree(random_tree(rng), "f", 1))


SHAPES = {
    "deep": lambda n: "(VP (MD will) " * n + "(VB go)" + ")" * n,
    "deep possessives": lambda n: "(NP " * n + "(NN cat)" + " (POS 's) (NN cat))" * n,
    "wide": lambda n: "(NP " + "(NN cat) (POS 's) (ADJP (JJ old)) " * n + "(NN cat))",
    "interrupted": lambda n: "(VP " + "(VBD saw) (NP (NN cat)) (VP (VB go)) (, ,) " * n + ")",
    "adverbs": lambda n: "(VP (VBD went) " + "(ADVP (RB fast)) (`` ``) " * n + "(NP (NN cat)))",
}


def seconds(tree):
    """Processor time of the faster of two runs."""
    times = []
    for _ in range(2):
        gc.collect()
        start = time.process_time()
        assert base_chunks(tree)[-1].end == len(tree)
        times.append(time.process_time() - start)
    return min(times)


@pytest.mark.dear
@pytest.mark.parametrize("shape", SHAPES)
def test_time_is_linear_whatever_the_shape(shape):
    gc.disable()
    try:
        small, large = (seconds(parse_tree(SHAPES[shape](size), "f", 1)) for size in (2000, 16_000))
    finally:
        gc.enable()
    # 8 times the words: 64 times as long were the time quadratic.
    assert large < 24 * small


def test_gold_trees(shared):
    trees = islice(read_trees(shared / "data/craft/craft_penn.mrg.gz"), 3000)
    kinds = set()
    for tree in filter(None, trees):
        check_chunks(tree)
        kinds.update(chunk.tag for chunk in base_chunks(tree))
    assert kinds >= {"NP", "VP", "PP", "ADJP", "ADVP", "SBAR", "PRT", "CONJP", "O"}


@pytest.mark.slow
def test_parsed_text_of_the_shared_task(shared):
    """The parser errs in three brackets of ten (F1 68.6 on news); the rules add little to that."""
    models = shared / "models/en"
    sentences = list(islice(read_conll2000(shared / "data/conll2000/test.txt.gz"), 300))
    pipeline = stanza_pipeline(
        models,
        "pos,constituency",
        pos_model_path=models / "tagger.pt",
        constituency_model_path=models / "constituency.pt",
        constituency_pretrain_path=models / "con_pretrain.pt",
    )
    parsed = pipeline([list(sentence.words) for sentence in sentences]).sentences
    trees = [parse_tree(str(sentence.constituency), "f", 1) for sentence in parsed]
    scores = chunk_f1((chunks_of_tags(s.tags) for s in sentences), map(base_chunks, trees))
    assert scores.overall.f1 > 77, scores.table()
    assert scores.types["PP"].f1 > 90, scores.table()
