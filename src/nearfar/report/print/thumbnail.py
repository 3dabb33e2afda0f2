"""Small pictures of objects for print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.images import open_image
from nearfar.errors import FileError

__all__ = ["MOST_IMAGES", "fine", "thumbnail"]

MOST_IMAGES = 400  # beyond this many a figure shows none


def fine(side: float) -> float:
    """Pixels a picture keeps on its longer side: three times what the screen shows, for print."""
    return 3 * side


def thumbnail(path: Path, side: float) -> NDArray[Any] | None:
    """(height, width, 3) pixels of a picture whose longer side is ``side`` on the figure; None where there is none."""
    try:
        image = open_image(path, side=round(fine(side)))
    except FileError:  # no picture after all: the object keeps its point or name
        return None
    image.thumbnail((round(fine(side)), round(fine(side))))
    return np.asarray(image.convert("RGB"))
