"""The objects of a study: names, display names, and pictures encoded anew so that nothing but pixels is served."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nearfar._tools.images import open_image
from nearfar._tools.progress import step
from nearfar._tools.text import read_lines
from nearfar.ask.study import Study
from nearfar.errors import FileError
from nearfar.io import read_objects
from nearfar.triplets.ids import order_names

SUFFIXES = {".avif", ".bmp", ".gif", ".jfif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"}


@dataclass(frozen=True)
class Picture:
    """A picture as it is served: the hash of its bytes is its address."""

    hash: str
    media: str
    data: bytes


@dataclass(frozen=True)
class StudyObjects:
    """Objects in their order; ``files`` has the picture of each, or None."""

    names: tuple[str, ...]
    display_names: tuple[str, ...]
    files: tuple[Path | None, ...]

    def pictures(self) -> Iterator[tuple[str, Picture]]:
        """(name, picture) of every object that has one."""
        shown = [(name, file) for name, file in zip(self.names, self.files, strict=True) if file is not None]
        with step("pictures", total=len(shown)) as advance:
            for name, file in shown:
                yield name, encode_picture(file)
                advance(1)


def find_objects(study: Study) -> StudyObjects:
    """The objects of a study: the names it lists, or what the folder or file it names holds."""
    given = study.objects
    if isinstance(given, tuple):
        return StudyObjects(given, given, (None,) * len(given))
    listed = list_objects(given)
    if not any(listed.files):  # a name may be listed twice
        shown = dict(zip(listed.names, listed.display_names, strict=True))
        return StudyObjects(tuple(shown), tuple(shown.values()), (None,) * len(shown))
    files = tuple(file and study.toml.file("", "objects", file) for file in listed.files)
    return StudyObjects(listed.names, listed.display_names, files)


def list_objects(given: Path, suffixes: Collection[str] = SUFFIXES) -> StudyObjects:
    """Objects from a folder of pictures, a text file with one name a line, or an object list."""
    if given.is_dir():
        files = [file for file in given.iterdir() if file.suffix.lower() in suffixes and file.is_file()]
        if not files:
            raise FileError(
                f"{given}: has no pictures; expected files ending in {' '.join(sorted(suffixes))}"
            )
        stems = {file.stem for file in files}
        by_name = {file.stem if len(stems) == len(files) else file.name: file for file in files}
        names = tuple(order_names(list(by_name)))
        return StudyObjects(names, names, tuple(by_name[name] for name in names))
    if given.suffix.lower() in (".txt", ".text", ".list", ""):
        names = tuple(read_lines(given, "name"))
        return StudyObjects(names, names, (None,) * len(names))
    listed = read_objects(given)
    return StudyObjects(listed.names, listed.display_names, tuple(listed.images))


def encode_picture(file: Path) -> Picture:
    """Decode a picture and encode its pixels anew: upright, in sRGB, without EXIF or any other remark."""
    picture = open_image(file, 800)  # sharp at two pixels per point on a phone
    picture = _in_srgb(picture, picture.info.get("icc_profile"))
    media, data = _encode(picture)
    return Picture(hashlib.sha256(data).hexdigest()[:32], media, data)


def _in_srgb(picture: Any, profile: bytes | None) -> Any:
    from PIL import ImageCms

    if not profile:
        return picture
    try:
        embedded = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        return ImageCms.profileToProfile(
            picture, embedded, ImageCms.createProfile("sRGB"), outputMode=picture.mode
        )
    except (ImageCms.PyCMSError, OSError, ValueError):
        return picture  # a broken profile: the pixels as they are


def _encode(picture: Any) -> tuple[str, bytes]:
    """Exact where there are few colours, else a good JPEG (or WebP where some of it is transparent)."""
    from PIL import Image

    clean = Image.new(picture.mode, picture.size)
    clean.paste(picture)
    stream = io.BytesIO()
    if clean.getcolors(256) is not None:
        clean.save(stream, "PNG", optimize=True)
        return "image/png", stream.getvalue()
    if clean.mode == "RGBA":
        clean.save(stream, "WEBP", quality=90, method=4)
        return "image/webp", stream.getvalue()
    clean.save(stream, "JPEG", quality=90, optimize=True)
    return "image/jpeg", stream.getvalue()
