"""nearfar: kernels, clusters, maps and trees from answers "A is nearer to B than to C".

Triplets -> Phi -> anything. Names resolve on first use, so that ``import nearfar`` is instant; they are listed once,
in ``__init__.pyi``.
"""

import sys

if sys.argv[:1] == ["-m"] or "".join(sys.argv[:1]).endswith("nearfar"):
    # the command: Ctrl-C while it is being imported shows no traceback (cli.main takes care of the rest)
    sys.excepthook = lambda kind, *rest: (
        None if issubclass(kind, KeyboardInterrupt) else sys.__excepthook__(kind, *rest)
    )

import lazy_loader

__version__ = "0.2.0"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
