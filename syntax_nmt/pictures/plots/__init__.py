"""Pictures of structures and figures: each module draws one kind from plain data, with matplotlib.

matplotlib takes a second to load, so nothing imports these modules before a picture is asked for.
"""

import logging

# With the libraries of this package every message of every package is on; theirs are one for each
# installed font and each table in it. Letters without a font are looked for here, see `fonts`.
for _library in ("matplotlib", "fontTools"):
    if logging.getLogger(_library).level == logging.NOTSET:
        logging.getLogger(_library).setLevel(logging.ERROR)
