"""Figures for papers, by matplotlib: a result and an ``ax`` go in, the Axes come out, to be changed as you like.

``nf.plot.map(space, ax=ax)`` draws into axes of yours, without ``ax`` into a new figure. Nothing is written into a picture but
names of objects and axes: captions are text (``nearfar.words``).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
