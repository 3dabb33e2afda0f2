"""Every sentence about a result, once: the page, the terminal and the live view of ``nearfar ask`` call these.

A function is named after the record it speaks of, and gives a ``Finding``; with ``_text`` it gives what the terminal prints.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
