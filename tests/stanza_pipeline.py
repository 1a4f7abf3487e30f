"""Stanza itself, offline, over words that are given."""

import stanza


def stanza_pipeline(folder, processors, **files):
    return stanza.Pipeline(
        lang="en",
        dir=str(folder),
        processors=f"tokenize,{processors}",
        tokenize_pretokenized=True,
        allow_unknown_language=True,
        download_method=None,
        use_gpu=False,
        verbose=False,
        **{name: str(path) for name, path in files.items()},
    )
