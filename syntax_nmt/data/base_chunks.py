"""Base chunks from a constituency tree, by the rules of CoNLL-2000.

Tjong Kim Sang and Buchholz (2000), section 2: a chunk is the head of a phrase with the words before
it; words after the head form separate chunks. In particular

* NP: adjective, quantity and adverb phrases before the head belong to the chunk, coordination of
  bare words stays in one chunk, and a possessive marker begins the chunk of the possessed thing
  (`[NP Eastern Airlines] [NP 's creditors]`); a phrase right after it is not part of that chunk;
* VP: auxiliaries, infinitives and the adverbs among them make one chunk with the verb they lead to,
  also across complement clauses without a subject (`[VP may not want to sell]`);
* PP and SBAR: only the preposition or complementiser, with words that modify it (`[PP even in]`);
* ADJP and ADVP: noun phrases before the head are separate (`[NP 68 years] [ADJP old]`);
* outside: conjunctions and punctuation between chunks, words that belong to a clause directly, such
  as the auxiliary of a question, and words after the head that are in no phrase.

Where the paper leaves something open, the rules follow the data of the shared task.
"""

from collections.abc import Iterable, Iterator, Sequence

from syntax_nmt.data.chunks import OUTSIDE, Chunk
from syntax_nmt.data.constituents import ConstituentTree

# Parts of speech.
_PAIRED = frozenset({"``", "''", '"', "-LRB-", "-RRB-"})
_COMMAS = frozenset({",", ".", ":"})
_SEPARATORS = _COMMAS | {"CC"}
_MARKS = _PAIRED | _SEPARATORS | {"HYPH", "NFP"}
_PREPOSITIONS = frozenset({"IN", "TO"})
_VERBS = frozenset({"VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "MD", "TO"})
_POSSESSIVE = frozenset({"POS"})

# Chunk type of a phrase's head. Other phrases form no chunk of their own.
_CHUNKED_AS = {
    **{label: "NP" for label in ("NP", "WHNP", "NX", "NML", "NAC", "QP")},
    **{label: "ADJP" for label in ("ADJP", "WHADJP")},
    **{label: "ADVP" for label in ("ADVP", "WHADVP")},
    **{label: "PP" for label in ("PP", "WHPP")},
    **{label: label for label in ("VP", "SBAR", "PRT", "CONJP", "INTJ", "LST", "UCP")},
}
# Phrases that are a part of the noun phrase around them, and may hold its head.
_NOMINAL = frozenset({"NX", "NML", "NAC", "QP"})
_MODIFIERS = frozenset({"ADJP", "WHADJP", "ADVP", "WHADVP", "CONJP", "UCP", "QP", "NML"})
# Phrases that join the chunk of the head they precede; words always do.
_JOINING = {"NP": _MODIFIERS | _NOMINAL, "ADJP": _MODIFIERS, "ADVP": _MODIFIERS}
_AMONG_VERBS = frozenset({"ADVP", "CONJP"})
# Functions of clauses whose verbs form separate chunks: `[VP moved] [VP to help]`, `[VP is] [VP to
# help]`.
_NOT_COMPLEMENTS = frozenset({"ADV", "PRP", "MNR", "TMP", "LOC", "DIR", "EXT", "BNF", "PRD"})


def base_chunks(tree: ConstituentTree) -> tuple[Chunk, ...]:
    """The base chunks of a tree with Penn-style labels, which together cover its words.

    Function labels and indices (`NP-SBJ-1`) are understood. It takes linear time in the number of
    nodes, whatever their depth.

    Args:
        tree: of one sentence; its leaves carry Penn parts of speech.
    """
    covered: list[Chunk] = []
    word = 0
    for chunk in [*sorted(_Chunker(tree).chunks(), key=_start), Chunk("", len(tree), len(tree))]:
        covered += [Chunk(OUTSIDE, outside, outside + 1) for outside in range(word, chunk.start)]
        covered.append(chunk)
        word = chunk.end
    return tuple(covered[:-1])


def _start(chunk: Chunk) -> int:
    return chunk.start


class _Chunker:
    """Traverses a tree from the top; each phrase takes its chunk, the rest follows later.

    Nodes are identified by their preorder position.

    Args:
        tree: of one sentence.
    """

    def __init__(self, tree: ConstituentTree) -> None:
        self._nodes = tree.nodes
        labels = [_split_label(node.label) for node in tree.nodes]
        self._labels = [label for label, _ in labels]
        self._functions = [functions for _, functions in labels]
        self._children: list[list[int]] = [[] for _ in tree.nodes]
        path: list[int] = []
        for index, node in enumerate(tree.nodes):
            del path[node.depth :]
            if path:
                self._children[path[-1]].append(index)
            path.append(index)
        self._found: list[Chunk] = []
        self._waiting: list[tuple[str, Sequence[int]]] = []
        self._interrupted: list[Iterator[int]] = []

    def chunks(self) -> list[Chunk]:
        """All chunks except words outside, unordered."""
        self._later([0])
        while self._waiting or self._interrupted:
            if self._interrupted:
                self._verb_phrase(self._interrupted.pop())
            else:
                self._phrase(*self._waiting.pop())
        return self._found

    def _phrase(self, label: str, children: Sequence[int]) -> None:
        kind = _CHUNKED_AS.get(label)
        if kind is None:
            self._later(children)
        elif kind == "NP":
            self._noun_phrase(children)
        elif kind == "VP" and any(self._is_verbal(child) for child in children):
            self._verb_phrase(iter(children))
        else:
            first, last = self._head_and_before(kind, children)
            self._take(kind, children[first:last])
            self._later(children[:first])
            self._later(children[last:])

    def _later(self, nodes: Iterable[int]) -> None:
        """Phrases to process; a word in this list is outside."""
        for node in nodes:
            if not self._nodes[node].leaf:
                self._waiting.append((self._labels[node], self._children[node]))

    def _take(self, kind: str, nodes: Sequence[int]) -> None:
        """Makes one chunk of neighbours, if there are any.

        A comma at the beginning of the chunk is excluded, and so is a quotation mark or bracket
        without its partner inside. The shared task's data keep them, a few in 10,000 chunks, but
        parsers attach marks inconsistently, and chunks without them are more useful.
        """
        paired = [at for at, node in enumerate(nodes) if self._is_word(node, _PAIRED)]
        begin = 1 if paired == [0] else 0
        while begin < len(nodes) and self._is_word(nodes[begin], _COMMAS):
            begin += 1
        if begin < len(nodes):
            start, end = self._nodes[nodes[begin]].start, self._nodes[nodes[-1]].end
            self._found.append(Chunk(kind, start, end))

    def _is_word(self, node: int, labels: frozenset[str]) -> bool:
        return self._nodes[node].leaf and self._labels[node] in labels

    def _head_and_before(self, kind: str, children: Sequence[int]) -> tuple[int, int]:
        """The children, first to last (exclusive), that form the chunk of a phrase."""
        last = len(children)
        while last and not self._may_head(kind, children[last - 1]):
            last -= 1
        if kind in ("PP", "SBAR"):  # `in order to`, `in case`: only the preposition
            places = [at for at in range(last) if self._is_word(children[at], _PREPOSITIONS)]
            last = places[-1] + 1 if places else last
        first = last
        while first and self._joins(kind, children[first - 1]):
            first -= 1
        return first, last

    def _may_head(self, kind: str, node: int) -> bool:
        if self._nodes[node].leaf:
            return self._labels[node] not in _MARKS
        return kind == "NP" and self._labels[node] in _NOMINAL

    def _joins(self, kind: str, node: int) -> bool:
        return self._nodes[node].leaf or self._labels[node] in _JOINING.get(kind, ())

    def _noun_phrase(self, children: Sequence[int]) -> None:
        """A chunk of the head and the words before it, split before each possessive marker."""
        first, last = self._head_and_before("NP", children)
        before, own = list(children[:first]), list(children[first:last])
        self._later(children[last:])
        if own and before and self._is_possessor(before[-1]):
            *possessor, marker = self._children[before.pop()]
            self._waiting.append(("NP", possessor))
            if self._nodes[own[0]].leaf or self._labels[own[0]] in _NOMINAL:
                own.insert(0, marker)
            else:
                self._take("NP", [marker])
                self._later([own.pop(0)])
        self._later(before)
        begin = 0
        for place, node in enumerate(own):
            if self._is_word(node, _POSSESSIVE):
                self._take("NP", own[begin:place])
                begin = place
        self._take("NP", own[begin:])

    def _is_possessor(self, node: int) -> bool:
        children = self._children[node]
        return (
            _CHUNKED_AS.get(self._labels[node]) == "NP"
            and len(children) > 1
            and self._is_word(children[-1], _POSSESSIVE)
        )

    def _verb_phrase(self, level: Iterator[int]) -> None:
        """Chunks from the first verb, or what modifies it, to the last verb of a chain."""
        chain: list[int] = []
        while True:
            inner = self._follow_verbs(level, chain)
            if inner is None:
                break
            self._interrupted.append(level)
            level = iter(self._children[inner])
        self._take("VP", chain)

    def _follow_verbs(self, level: Iterator[int], chain: list[int]) -> int | None:
        """Adds the verbs of one level to a chain; returns the phrase that the chain continues in.

        Args:
            level: children of a verb phrase; used up to the phrase that is returned.
            chain: verbs so far; it ends, and a new one begins, where something else interrupts.
        """
        pending: list[int] = []  # joins if a verb follows
        for child in level:
            if self._is_word(child, _VERBS):
                chain += [*pending, child]
                pending = []
            elif self._is_word(child, _SEPARATORS) and not chain:
                pass
            elif self._nodes[child].leaf or self._labels[child] in _AMONG_VERBS:
                pending.append(child)
            elif self._continues(child) and not self._separated(pending):
                if chain:
                    chain += pending
                else:
                    self._later(pending)
                return child
            else:
                self._take("VP", chain)
                chain.clear()
                self._later([*pending, child])
                pending = []
        self._later(pending)
        return None

    def _is_verbal(self, node: int) -> bool:
        return self._labels[node] in ("VP", "S") or self._is_word(node, _VERBS)

    def _separated(self, nodes: Iterable[int]) -> bool:
        return any(self._is_word(node, _SEPARATORS) for node in nodes)

    def _continues(self, node: int) -> bool:
        """Whether verbs continue in a phrase: a verb phrase, or a complement without a subject."""
        if self._labels[node] == "VP":
            return True
        return (
            self._labels[node] == "S"
            and self._labels[self._children[node][0]] == "VP"
            and not self._functions[node] & _NOT_COMPLEMENTS
        )


def _split_label(label: str) -> tuple[str, frozenset[str]]:
    """The category and the function labels of `NP-SBJ-1`; `-LRB-` is a category."""
    if label.startswith("-"):
        return label, frozenset()
    category, *functions = label.replace("=", "-").replace("|", "-").split("-")
    return category, frozenset(functions)
