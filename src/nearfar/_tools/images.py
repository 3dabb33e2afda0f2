"""Opening a picture that somebody else made: in the formats we name, not too large, and any damage is one sentence."""

from __future__ import annotations

import os
import threading
import warnings
from contextlib import nullcontext
from typing import Any

from nearfar.errors import FileError, MissingExtra

# none that runs a program, as EPS does
FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "PPM", "AVIF")
_filters = threading.Lock()  # of warnings, which belong to the whole process
_large = threading.Lock()  # large pictures are decoded one at a time, to spare memory


def open_image(source: str | os.PathLike[str], side: int, *, most_pixels: int = 100_000_000) -> Any:
    """A picture as Pillow's Image: upright, in RGB, or RGBA where some of it is transparent, at most ``side`` pixels long.

    More than ``most_pixels`` are refused before they are decoded.
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
            opened.draft("RGB", (2 * side, 2 * side))  # a JPEG is decoded at a smaller size
            pixels = opened.width * opened.height
            if pixels <= most_pixels:
                with _large if pixels > 1 << 24 else nullcontext():
                    ImageOps.exif_transpose(opened, in_place=True)
                    mode = "RGBA" if opened.has_transparency_data else "RGB"
                    picture = opened if opened.mode == mode else opened.convert(mode)
                    picture.thumbnail((side, side), Image.Resampling.LANCZOS)
                    return picture
    except Image.DecompressionBombError:
        pass
    except Exception as error:  # a damaged file may raise anything
        raise FileError(f"{os.fspath(source)}: is not a picture that can be read") from error
    raise FileError(f"{os.fspath(source)}: is too large to be a picture of an object")
