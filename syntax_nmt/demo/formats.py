"""How the gold structures are written: one function a file format, each one sentence at a time."""

from __future__ import annotations

from syntax_nmt.demo.pair import SentencePair


def conllu(pair: SentencePair, name: str) -> str:
    """The source's dependencies as a CoNLL-U block, blank line included.

    Args:
        name: its `sent_id`.
    """
    lines = [f"# sent_id = {name}", f"# text = {pair.source_text}"]
    dependencies = pair.tree.dependencies()
    for position, (word, (head, relation)) in enumerate(zip(pair.source, dependencies), start=1):
        fields = (
            str(position),
            word.form,
            word.lemma,
            word.upos,
            word.xpos,
            word.feats,
            str(head),
            relation,
            "_",
            "_",
        )
        lines.append("\t".join(fields))
    return "\n".join(lines) + "\n\n"


def chunks(pair: SentencePair) -> str:
    """The target's chunk tags in IOB2, separated by spaces."""
    return " ".join(word.chunk for word in pair.target)


def pharaoh(pair: SentencePair) -> str:
    """The word alignment as source-target positions from 0, separated by spaces."""
    return " ".join(f"{i}-{j}" for i, j in pair.alignment())
