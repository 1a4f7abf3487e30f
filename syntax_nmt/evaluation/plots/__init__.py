"""Pictures of structures and figures: each module draws one, out of plain data, with matplotlib.

matplotlib takes a second to load, so nothing imports these modules before a picture is drawn.
"""

import logging

# With the libraries of this package every message of every package is on; matplotlib's are one
# for each installed font. Letters without a font are looked for here, see `fonts`.
if logging.getLogger("matplotlib").level == logging.NOTSET:
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
