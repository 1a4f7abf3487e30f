"""Pictures: plots, the kinds of `syntax-nmt plot`, and the report page."""

import logging

# With fairseq's modules every message of every package is on; those of the libraries that draw are
# one for each installed font and each table in it. They begin while matplotlib is imported, so the
# level is set before. Letters without a font are looked for in `plots.fonts`.
for _library in ("matplotlib", "fontTools"):
    if logging.getLogger(_library).level == logging.NOTSET:
        logging.getLogger(_library).setLevel(logging.ERROR)
