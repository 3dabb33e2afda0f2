"""What has nothing to do with triplets: atomic files, checks of arguments, compiled loops, limits, progress, threads."""

import lazy_loader  # type: ignore[import-untyped]

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submodules=["progress"])
