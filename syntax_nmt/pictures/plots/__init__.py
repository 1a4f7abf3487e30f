"""Pictures of structures and figures: each module draws one kind from plain data, with matplotlib.

matplotlib takes a second to load, so nothing imports these modules before a picture is asked for.
"""
