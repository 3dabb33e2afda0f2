"""Opening a picture that somebody else made: in the formats we name, not too large, and any damage is one sentence."""

from __future__ import annotations

import os
import threading
import warnings
from contextlib import nullcontext
from typing import Any

from nearfar._tools.checks import need
from nearfar.errors import FileError

# none that runs a program, as EPS does
FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "PPM", "AVIF")
_filters = threading.Lock()  # of warnings, which belong to the whole process
_large = threading.Lock()  # large pictures are decoded one at a time, to spare memory


def open_image(
    source: str | os.PathLike[str], side: int, *, most_pixels: int = 100_000_000, still: bool = False
) -> Any:
    """A picture as Pillow's Image: upright, in RGB, or RGBA where some of it is transparent, at most ``side`` pixels long.

    More than ``most_pixels`` are refused before they are decoded; where it must be ``still``, several frames, too.
    """
    Image, ImageOps = (need(f"PIL.{name}", "pillow", "report") for name in ("Image", "ImageOps"))
    Image.init()
    formats = [kind for kind in FORMATS if kind in Image.OPEN]  # Pillow may be built without AVIF
    wrong = "is too large to be a picture of an object"
    try:
        with _filters, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about many pixels, which are counted below
            opened = Image.open(source, formats=formats)
        with opened:
            opened.draft("RGB", (2 * side, 2 * side))  # a JPEG is decoded at a smaller size
            pixels = opened.width * opened.height
            frames = getattr(opened, "n_frames", 1) if still and opened.format != "MPO" else 1
            if opened.mode in ("I", "F"):
                wrong = "has pixels of 32 bits; save it with 8 or 16"
            elif frames > 1:
                wrong = f"has {frames:,} frames; save one of them, or a film"
            elif pixels <= most_pixels:
                with _large if pixels > 1 << 24 else nullcontext():
                    ImageOps.exif_transpose(opened, in_place=True)
                    mode = "RGBA" if opened.has_transparency_data else "RGB"
                    picture = opened
                    if opened.mode.startswith("I;16"):  # Pillow would cut off all shades above 255
                        picture = opened.convert("I").point(lambda value: value / 257 + 0.5).convert("L")
                    picture = picture if picture.mode == mode else picture.convert(mode)
                    picture.thumbnail((side, side), Image.Resampling.LANCZOS)
                    return picture
    except Image.DecompressionBombError:
        pass
    except Exception as error:  # a damaged file may raise anything
        raise FileError(f"{os.fspath(source)}: is not a picture that can be read") from error
    raise FileError(f"{os.fspath(source)}: {wrong}")
