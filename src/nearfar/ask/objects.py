"""The objects of a study: names, display names, and pictures encoded anew so that nothing but pixels is served."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nearfar._tools.images import open_image
from nearfar._tools.progress import step
from nearfar.ask._toml import read_toml
from nearfar.ask.study import Study
from nearfar.errors import FileError
from nearfar.io import read_objects
from nearfar.triplets.ids import order_names

__all__ = ["Picture", "StudyObjects", "encode_picture", "find_objects"]

SUFFIXES = {".avif", ".bmp", ".gif", ".jfif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"}
LONGEST_SIDE = 800  # pixels; sharp at two pixels per point on a phone
FEW_COLOURS = 256


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
    """The objects of a study: a folder of pictures, an object list, a text file of names, or the names themselves."""
    given = study.objects
    if isinstance(given, tuple):
        return StudyObjects(given, given, (None,) * len(given))
    if given.is_dir():
        return _from_folder(study, given)
    if given.suffix.lower() in (".txt", ""):
        try:
            lines = given.read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise FileError(f"{given}: cannot be read as UTF-8 text, one name per line") from error
        names = tuple(dict.fromkeys(line.strip() for line in lines if line.strip()))
        return StudyObjects(names, names, (None,) * len(names))
    listed = read_objects(given)
    files = tuple(None if image is None else _inside(study, image) for image in listed.images)
    return StudyObjects(listed.names, listed.display_names, files)


def _from_folder(study: Study, folder: Path) -> StudyObjects:
    files = [file for file in folder.iterdir() if file.suffix.lower() in SUFFIXES and file.is_file()]
    if not files:
        raise read_toml(study.path).error(
            "",
            "objects",
            f"{folder.name!r} has no pictures; expected files ending in {' '.join(sorted(SUFFIXES))}",
        )
    stems = {file.stem for file in files}
    by_name = {file.stem if len(stems) == len(files) else file.name: file for file in files}
    names = tuple(order_names(list(by_name)))
    return StudyObjects(names, names, tuple(_inside(study, by_name[name]) for name in names))


def _inside(study: Study, file: Path) -> Path:
    """The picture's file, where it lies in the folder of the study; whatever a list or a link says."""
    try:
        found = file.resolve()
        there = found.is_file()
    except (OSError, ValueError, RuntimeError) as error:
        raise FileError(f"{study.path}: {str(file)!r} is not the name of a picture") from error
    if not found.is_relative_to(study.folder):
        raise FileError(f"{file}: lies outside the folder of the study file; copy it into the folder")
    if not there:
        raise FileError(f"{file}: there is no such picture")
    return found


def encode_picture(file: Path) -> Picture:
    """Decode a picture and encode its pixels anew: upright, in sRGB, without EXIF or any other remark."""
    picture = open_image(file, LONGEST_SIDE)
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
    if clean.getcolors(FEW_COLOURS) is not None:
        clean.save(stream, "PNG", optimize=True)
        return "image/png", stream.getvalue()
    if clean.mode == "RGBA":
        clean.save(stream, "WEBP", quality=90, method=4)
        return "image/webp", stream.getvalue()
    clean.save(stream, "JPEG", quality=90, optimize=True)
    return "image/jpeg", stream.getvalue()
