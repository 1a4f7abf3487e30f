"""Labels in checkpoints: any text of an annotation file, without being read as anything else."""

import pytest
from omegaconf import OmegaConf

from syntax_nmt.arguments import Namespace
from syntax_nmt.checkpoints.label_text import OPTIONS, join_labels, split_labels
from syntax_nmt.checkpoints.options import executable_option

ODD = [
    ("<unk>", "${HOME}", "$", "${", "}", "${oc.env:PATH}", "${model.arch}"),
    ("f(x)",),
    ("[*(lambda:1)()]",),
    ("<unk>", "%24", "%", "a=b", "é", "日本語", "'", '"', "\\n"),
    ("percent-encoded", "a"),
    ("percent-encoded", "${x}"),
    tuple(f"lemma{number}" for number in range(20_000)),  # longer than any other option may be
]


@pytest.mark.parametrize("labels", ODD, ids=range(len(ODD)))
def test_labels_come_back_and_are_no_code(labels):
    """From every form in which fairseq keeps the options of a model."""
    text = join_labels(labels)
    assert split_labels(text) == labels
    for model in ({"feature_lemma": text}, Namespace(feature_lemma=text)):
        cfg = OmegaConf.create({"model": model}, flags={"allow_objects": True})
        for options in ({"model": model}, cfg):
            assert executable_option(options) is None
        plain = OmegaConf.to_container(cfg, resolve=True)["model"]
        read = plain["feature_lemma"] if isinstance(plain, dict) else plain.feature_lemma
        assert split_labels(read) == labels


def test_usual_labels_stay_as_they_are():
    """Checkpoints with them can be read by older versions, too."""
    for labels in (("<unk>", "nsubj:pass", "PRP$", "``", ","), ("B-NP", "I-VP"), ()):
        assert join_labels(labels) == " ".join(labels)
    assert split_labels(None) == ()


def test_what_0_3_0_kept():
    """Plain labels in a model's namespace are read; OmegaConf replaces nothing there."""
    kept = "<unk> ${HOME} f(x)"
    assert "feature_lemma" in OPTIONS
    assert executable_option({"model": Namespace(feature_lemma=kept)}) is None
    assert executable_option({"model": {"feature_lemma": kept}}) is not None
    assert executable_option(Namespace(feature_lemma=kept)) is not None  # fairseq would convert it
    assert executable_option({"model": Namespace(feature_lemma=["${HOME}"])}) is not None
    assert executable_option({"model": Namespace(arch="${HOME}")}) is not None
    assert executable_option({"model": {"feature_lemma": "percent-encoded ${HOME}"}}) is not None
