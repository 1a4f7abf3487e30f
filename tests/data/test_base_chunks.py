import gc
import random
import re
import time
from itertools import islice

import pytest

from syntax_nmt.data.base_chunks import base_chunks
from syntax_nmt.data.constituents import parse_tree, read_trees


def drawn(bracketed):
    """`[NP the cat] [VP sleeps] .`"""
    tree = parse_tree(bracketed, "f", 1)
    texts = []
    for tag, start, end in base_chunks(tree):
        words = " ".join(tree.words[start:end])
        texts.append(words if tag == "O" else f"[{tag} {words}]")
    return " ".join(texts)


# Examples of Tjong Kim Sang and Buchholz (2000), section 2, and what the data of the task show.
EXAMPLES = """
(NP (NP (NNP Eastern) (NNPS Airlines) (POS ')) (NNS creditors))
    possessive: [NP Eastern Airlines] [NP ' creditors]
(NP (NP (NP (DT the) (NN girl) (POS 's)) (NN cat) (POS 's)) (JJ long) (NN tail))
    possessives: [NP the girl] [NP 's cat] [NP 's long tail]
(NP (NNP McDonald) (POS 's))
    possessive without a phrase: [NP McDonald] [NP 's]
(NP (NP (NN bank) (POS 's)) (ADJP (RBS most) (JJ recent)) (NN spate))
    phrase after possessive: [NP bank] [NP 's] [ADJP most recent] [NP spate]
(NP (NP (DT the) (NN day) (POS 's)) (NML (NN oil) (NN price)) (NN rise))
    possessor of a part: [NP the day] [NP 's oil price rise]
(NP (DT The) (ADJP (RBS most) (JJ volatile)) (NN form))
    adjectives in a noun phrase: [NP The most volatile form]
(NP (QP (RBR more) (IN than) (CD 100)) (JJ such) (NNS funds))
    quantity: [NP more than 100 such funds]
(NP (QP (IN about) ($ $) (CD 5) (CD million)))
    quantity alone: [NP about $ 5 million]
(NP (DT the) (NML (NN oil) (NN price)) (PP (IN in) (NP (NNP May))))
    head of several words: [NP the oil price] [PP in] [NP May]
(NP (NN trucking) (, ,) (NN shipping) (CC and) (NN mining))
    flat coordination: [NP trucking , shipping and mining]
(NP (NP (DT the) (NN cat)) (CC and) (NP (DT the) (NN dog)))
    coordinated phrases: [NP the cat] and [NP the dog]
(NP (DT both) (NP (NN cats)) (CC and) (NP (JJ old) (NN dogs)))
    both before a phrase: [NP both] [NP cats] and [NP old dogs]
(NP (NP (NNS shares) (ADJP (JJ outstanding))) (PP (IN in) (NP (NNP May))))
    modifiers after the head: [NP shares] [ADJP outstanding] [PP in] [NP May]
(NP (NNP Chancellor) (PP (IN of) (NP (DT the) (NNP Exchequer))) (NNP N.) (NNP Lawson))
    words cut off from the head: Chancellor [PP of] [NP the Exchequer] [NP N. Lawson]
(S (NP-SBJ-3 (NNP Mr.) (NNP Icahn)) (VP (MD may) (RB not) (VP (VB want) (S (NP-SBJ (-NONE- *-3))
(VP (TO to) (VP (VB sell)))))) (. .))
    one chain of verbs: [NP Mr. Icahn] [VP may not want to sell] .
(S (NP (NP (DT The) (NN impression)) (SBAR (S (NP (PRP I)) (VP (VBP have) (VP (VBN got)))))) (VP
(VBZ is) (SBAR (S (NP (PRP they)) (VP (MD 'd) (VP (VB love) (S (VP (TO to) (VP (VB do) (PRT (RP
away)) (PP (IN with) (NP (PRP it))))))))))))
    verb phrases side by side: [NP The impression] [NP I] [VP have got] [VP is] [NP they] [VP 'd
        love to do] [PRT away] [PP with] [NP it]
(VP (MD could) (ADVP (RB very) (RB well)) (VP (VB show) (ADVP (RB again))))
    adverbs among verbs: [VP could very well show] [ADVP again]
(S (NP (PRP It)) (VP (ADVP (RB virtually)) (VBZ disappears)))
    adverb before the verb: [NP It] [VP virtually disappears]
(S (NP (PRP We)) (ADVP (RB also)) (VP (VBD left)))
    adverb of the clause: [NP We] [ADVP also] [VP left]
(S (NP (EX there)) (VP (VBP are) (RB n't) (NP (NNS problems))))
    negation without another verb: [NP there] [VP are] n't [NP problems]
(VP (VBD decided) (S (RB not) (VP (TO to) (VP (VB go)))))
    negation of a clause: [VP decided] not [VP to go]
(VP (VBD began) (S (VP (VBG producing) (NP (NN heat)))))
    gerund complement: [VP began producing] [NP heat]
(VP (VBD moved) (ADVP (RB quickly)) (S-PRP (VP (TO to) (VP (VB help)))))
    adverbial clause: [VP moved] [ADVP quickly] [VP to help]
(VP (VBG trying) (ADVP (RB unsuccessfully)) (S (VP (TO to) (VP (VB sell)))))
    adverb before a complement: [VP trying unsuccessfully to sell]
(S (NP (DT The) (NN aim)) (VP (VBZ is) (S-PRD (VP (TO to) (VP (VB win))))))
    predicative clause: [NP The aim] [VP is] [VP to win]
(VP (VBZ wants) (S (NP (PRP him)) (VP (TO to) (VP (VB go)))))
    clause with a subject: [VP wants] [NP him] [VP to go]
(VP (MD will) (VP (VB buy) (CC or) (VB sell) (NP (NNS cars))))
    coordinated verbs: [VP will buy or sell] [NP cars]
(VP (MD will) (VP (VP (VB come)) (CC and) (RB then) (VP (VB see))))
    coordinated verb phrases: [VP will come] and then [VP see]
(VP (VBD had) (, ,) (ADVP (RB kindly)) (, ,) (VP (VBN set) (PRT (RP out))))
    verbs after an interruption: [VP had] , [ADVP kindly] , [VP set] [PRT out]
(VP (VBD saw) (NP (PRP me)) (CC and) (VBD left))
    coordinated verb after something else: [VP saw] [NP me] and [VP left]
(VP (VBD were) (VP (NP (JJ critical) (NN point)) (VBN dried)))
    verb after something else: [VP were] [NP critical point] [VP dried]
(S (NP (PRP they)) (VP (VBP are) (ADJP (RB very) (JJ unhappy))))
    predicative adjective: [NP they] [VP are] [ADJP very unhappy]
(SINV (CONJP (RB Not) (RB only)) (VBZ does) (NP (PRP$ your) (NN product)) (VP (VB have) (S (NP
(-NONE- *-1)) (VP (TO to) (VP (VB be) (ADJP (JJ excellent)))))) (, ,))
    inversion: [CONJP Not only] does [NP your product] [VP have to be] [ADJP excellent] ,
(ADVP-TMP (NP (DT a) (NN year)) (RBR earlier))
    noun phrase in an adverb phrase: [NP a year] [ADVP earlier]
(ADJP-PRD (NP (CD 68) (NNS years)) (JJ old))
    noun phrase in an adjective phrase: [NP 68 years] [ADJP old]
(ADJP (ADVP (RB far) (RBR more)) (JJ partial) (PP (IN to) (NP (NN gold))))
    adverb phrase in an adjective phrase: [ADJP far more partial] [PP to] [NP gold]
(ADJP (JJ sharp) (CC and) (JJ quick))
    coordinated adjectives: [ADJP sharp and quick]
(PP (IN because) (IN of) (NP (NN rain)))
    prepositions of several words: [PP because of] [NP rain]
(PP (JJ such) (IN as) (NP (NN oil)))
    such as: [PP such as] [NP oil]
(PP (RB even) (IN in) (NP (NNP May)))
    modified preposition: [PP even in] [NP May]
(PP (ADVP (RB only)) (IN by) (NP (NN rain)))
    phrase before a preposition: [ADVP only] [PP by] [NP rain]
(PP (IN at) (CC or) (IN below) (NP (DT the) (NN price)))
    coordinated prepositions: [PP at or below] [NP the price]
(PP (VBG according) (PP (TO to) (NP (PRP us))))
    nested prepositions: [PP according] [PP to] [NP us]
(VP (VBP say) (SBAR (IN that) (S (NP (PRP we)) (VP (VBP win)))))
    complementiser: [VP say] [SBAR that] [NP we] [VP win]
(SBAR (RB even) (IN though) (S (NP (PRP we)) (VP (VBP win))))
    modified complementiser: [SBAR even though] [NP we] [VP win]
(SBAR (IN in) (NN order) (S (VP (TO to) (VP (VB win)))))
    in order to: [SBAR in] order [VP to win]
(NP (NP (DT the) (NN man)) (SBAR (WHNP-1 (WP who)) (S (VP (VBD left)))))
    relative pronouns: [NP the man] [NP who] [VP left]
(SBAR (WHADVP (WRB when)) (S (NP (PRP we)) (VP (VBP win))))
    relative adverb: [ADVP when] [NP we] [VP win]
(SBAR (WHPP (IN in) (WHNP (WDT which))) (S (NP (PRP we)) (VP (VBP win))))
    preposition and relative pronoun: [PP in] [NP which] [NP we] [VP win]
(SBARQ (WHADVP (WRB How)) (SQ (MD could) (NP (PRP I)) (VP (VB know))) (. ?))
    question: [ADVP How] could [NP I] [VP know] ?
(NP (NP (NNS goods)) (CONJP (RB as) (RB well) (IN as)) (NP (NNS services)))
    conjunction of several words: [NP goods] [CONJP as well as] [NP services]
(S (LST (-LRB- -LRB-) (LS a) (-RRB- -RRB-)) (VP (VB Go)) (. .))
    list item: ( [LST a] ) [VP Go] .
(S (INTJ (UH Oh) (, ,) (UH yes)) (, ,) (VP (VB go)))
    interjection: [INTJ Oh , yes] , [VP go]
(UCP (NN wine) (CC and) (JJ hot))
    unlike coordination: [UCP wine and hot]
(NP (`` ``) (JJ heavy) ('' '') (NN water))
    quoted part: [NP `` heavy '' water]
(NP (`` ``) (NN control) ('' ''))
    quoted whole: `` [NP control] ''
(NP (NN X) (PRN (-LRB- -LRB-) (NP (NN Y)) (-RRB- -RRB-)) (, ,) (NN Z))
    comma before a second part: X ( [NP Y] ) , [NP Z]
(S (IN so) (NP (PRP we)) (VP (VBP win)))
    words of a clause: so [NP we] [VP win]
(S (NP-SBJ=2 (PRP We)) (VP|x (VBP win) (ADVP-TMP-CLR (RB now))))
    labels with functions: [NP We] [VP win] [ADVP now]
(VP (NN account) (NP (NN deficit)))
    no verb in a verb phrase: [VP account] [NP deficit]
(NN cat)
    one word: cat
(NP the cat)
    words without a part of speech: [NP the cat]
"""


def examples():
    """(tree, name, chunks) of each: what is indented belongs to the tree above."""
    return [
        (tree, *said.split(": ", 1))
        for tree, said in re.findall(r"((?:^\S.*\n)+) {4}(.*(?:\n {8}.*)?)", EXAMPLES, re.MULTILINE)
    ]


@pytest.mark.parametrize(("bracketed", "name", "expected"), examples())
def test_rules(bracketed, name, expected):
    assert drawn(bracketed) == " ".join(expected.split())


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
    *("S", "SBAR", "NP", "NP", "NP", "VP", "VP", "PP", "ADJP", "ADVP", "QP", "NML", "PRN", "PRT"),
    *("CONJP", "UCP", "X", "INTJ", "LST", "WHNP", "FRAG", "NX"),
]
WORDS = [
    *("DT", "JJ", "NN", "NNS", "POS", "VB", "VBD", "MD", "TO", "RB", "IN", "CC", "CD", "PRP"),
    *("RP", ",", ".", "``", "''", "-LRB-", "-RRB-", "WDT"),
]


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
    for tree in filter(None, islice(read_trees(shared / "data/craft/craft_penn.mrg.gz"), 3000)):
        check_chunks(tree)
