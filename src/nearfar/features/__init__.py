"""Triplets -> Phi: k1, k2, score and their sums; counting and rows are shared."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
