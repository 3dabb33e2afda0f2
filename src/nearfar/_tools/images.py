"""Opening a picture that somebody else made: in the formats we name, not too large, and any damage is one sentence."""

from __future__ import annotations

import os
import threading
import warnings
from contextlib import nullcontext
from typing import Any

from nearfar.errors import FileError, MissingExtra

__all__ = ["open_image"]

FORMATS = (
    "PNG",
    "JPEG",
    "GIF",
    "WEBP",
    "BMP",
    "TIFF",
    "PPM",
    "AVIF",
)  # none that runs a program, as EPS does
_filters = threading.Lock()  # of warnings, which belong to the whole process
_large = (
    threading.Lock()
)  # one large picture is decoded at a time, so that threads do not take the memory of several


def open_image(
    source: str | os.PathLike[str], *, side: int | None = None, most_pixels: int = 100_000_000
) -> Any:
    """A picture as Pillow's Image: decoded, upright, in RGB, or RGBA where some of it is transparent.

    Parameters
    ----------
    source : a file.
    side : pixels on the longer side that are enough; a JPEG is then decoded at a smaller size.
    most_pixels : more than so many are refused.
    """
    try:
        from PIL import Image, ImageOps
    except ImportError as error:
        raise MissingExtra("pillow", "report") from error
    Image.init()
    formats = [kind for kind in FORMATS if kind in Image.OPEN]  # Pillow may be built without AVIF
    try:
        with _filters, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about many pixels, which are counted below
            opened = Image.open(source, formats=formats)
        with opened:
            if side is not None:
                opened.draft("RGB", (2 * side, 2 * side))
            pixels = opened.width * opened.height
            if pixels <= most_pixels:
                with _large if pixels > 1 << 24 else nullcontext():
                    upright = ImageOps.exif_transpose(opened)
                    return upright.convert("RGBA" if upright.has_transparency_data else "RGB")
    except Image.DecompressionBombError:
        pass
    except Exception as error:  # a damaged file may raise anything
        raise FileError(f"{os.fspath(source)}: is not a picture that can be read") from error
    raise FileError(f"{os.fspath(source)}: is too large to be a picture of an object")
