"""Words and drawings of an analysis: what is drawn is computed elsewhere, and nothing is computed here.

``make_report(answers)`` gives a ``Report`` with ``write``, ``write_json`` and ``write_bundle``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
