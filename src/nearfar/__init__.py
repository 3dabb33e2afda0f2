"""nearfar: kernels, clusters, maps and trees from answers "A is nearer to B than to C".

Triplets -> Phi -> anything. Names resolve on first use, so that ``import nearfar`` is instant; they are listed once,
in ``__init__.pyi``.
"""

import lazy_loader

__version__ = "0.2.0"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
