"""Pictures of structures and figures: each module draws one, out of plain data, with matplotlib.

matplotlib takes a second to load, so nothing imports these modules before a picture is drawn.
"""

import logging

# Some libraries turn on every message of every package; matplotlib's are one for
# each installed font.
if logging.getLogger("matplotlib").level == logging.NOTSET:
    logging.getLogger("matplotlib").setLevel(logging.WARNING)
