"""The objects of a study: names, display names, pictures encoded anew so that only pixels are served, sound and film."""

from __future__ import annotations

import hashlib
import io
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nearfar._tools.images import open_image
from nearfar._tools.progress import step
from nearfar._tools.text import listed, read_lines
from nearfar.ask.study import Study
from nearfar.errors import FileError, NearfarWarning
from nearfar.io import read_objects
from nearfar.triplets.ids import order_names

# served as they are: what the first bytes must be, at which position, and the media type
PLAYED: dict[str, tuple[int, tuple[bytes, ...], str]] = {
    ".mp3": (0, (b"ID3", b"\xff\xfb", b"\xff\xf3", b"\xff\xf2", b"\xff\xfa"), "audio/mpeg"),
    ".wav": (8, (b"WAVE",), "audio/wav"),
    ".ogg": (0, (b"OggS",), "audio/ogg"),
    ".flac": (0, (b"fLaC",), "audio/flac"),
    ".m4a": (4, (b"ftyp",), "audio/mp4"),
    ".mp4": (4, (b"ftyp",), "video/mp4"),
    ".webm": (0, (b"\x1aE\xdf\xa3",), "video/webm"),
}
LARGEST_PLAYED = 15_000_000  # bytes; the databases of studies are read with values up to 16 MiB
SIDE = 800  # pixels of the longer side: sharp at two pixels per point on a phone
SUFFIXES = {*PLAYED, ".avif", ".bmp", ".gif", ".jfif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"}


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
        """(name, picture) of every object that has one; two that are the same are told."""
        shown = [(name, file) for name, file in zip(self.names, self.files, strict=True) if file is not None]
        first: dict[str, str] = {}
        same = []
        with step("pictures", total=len(shown)) as advance:
            for name, file in shown:
                picture = encode_picture(file)
                if (twin := first.setdefault(picture.hash, name)) != name:
                    same.append(f"{twin} and {name}")
                yield name, picture
                advance(1)
        if same:
            warnings.warn(f"people see no difference between {listed(same, 3)}", NearfarWarning, stacklevel=2)


def find_objects(study: Study) -> StudyObjects:
    """The objects of a study: the names it lists, or what the folder or file it names holds."""
    given = study.objects
    if isinstance(given, tuple):
        return StudyObjects(given, given, (None,) * len(given))
    there = list_objects(given)
    if not any(there.files):  # a name may be listed twice
        shown = dict(zip(there.names, there.display_names, strict=True))
        return StudyObjects(tuple(shown), tuple(shown.values()), (None,) * len(shown))
    files = tuple(file and study.toml.file("", "objects", file) for file in there.files)
    return replace(there, files=files)


def shown_as(study: Study, objects: StudyObjects) -> str:
    """What people see of the objects unless the study says so: no names where every object has a picture or a sound."""
    return study.show or ("pictures" if all(objects.files) else "both")


def list_objects(given: Path) -> StudyObjects:
    """Objects from a folder of pictures, a text file with one name a line, or an object list."""
    if given.is_dir():
        there = sorted(file for file in given.iterdir() if file.name != "Thumbs.db" and file.name[0] != ".")
        files = [file for file in there if file.suffix.lower() in SUFFIXES and file.is_file()]
        expected = f"expected files ending in {' '.join(sorted(SUFFIXES))}"
        if not files:
            raise FileError(f"{given}: has no pictures; {expected}")
        if others := [file.name for file in there if file not in set(files)]:
            warnings.warn(
                f"{given}: cannot use {listed(others, 5)}; {expected}", NearfarWarning, stacklevel=2
            )
        stems = {file.stem for file in files}
        by_name = {file.stem if len(stems) == len(files) else file.name: file for file in files}
        names = tuple(order_names(list(by_name)))
        return StudyObjects(names, names, tuple(by_name[name] for name in names))
    if given.suffix.lower() in (".txt", ".text", ".list", ""):
        names = tuple(read_lines(given, "name"))
        return StudyObjects(names, names, (None,) * len(names))
    read = read_objects(given)
    return StudyObjects(read.names, read.display_names, tuple(read.images))


def encode_picture(file: Path) -> Picture:
    """A picture as pixels encoded anew: upright, in sRGB, without EXIF or any other remark. Sound and film as they are."""
    if file.suffix.lower() in PLAYED:
        media, data = _played(file)
    else:
        picture = open_image(file, SIDE, still=True)
        media, data = _encode(_in_srgb(picture), _is_lossy(file))
    return Picture(hashlib.sha256(data).hexdigest()[:32], media, data)


def _played(file: Path) -> tuple[str, bytes]:
    at, marks, media = PLAYED[file.suffix.lower()]
    try:
        size = file.stat().st_size
        data = file.read_bytes() if size <= LARGEST_PLAYED else b""
    except OSError as error:
        raise FileError(f"{file}: cannot be read, {str(error.strerror).lower()}") from error
    if not data:
        raise FileError(f"{file}: has {size:,} bytes; expected 1 to {LARGEST_PLAYED:,}")
    if not data.startswith(marks, at):
        raise FileError(f"{file}: is not {media} inside; convert it, or give it the right ending")
    return media, data


def _is_lossy(file: Path) -> bool:
    """Whether a picture was saved with loss: JPEG, AVIF, and WebP that does not say otherwise."""
    data = file.read_bytes()
    # a lossless WebP says VP8L, behind a profile where there is one
    is_webp = data[8:12] == b"WEBP" and b"VP8L" not in data
    return data.startswith(b"\xff\xd8") or data[4:8] == b"ftyp" or is_webp


def _in_srgb(picture: Any) -> Any:
    from PIL import ImageCms

    if not (profile := picture.info.get("icc_profile")):
        return picture
    try:
        profiles = ImageCms.ImageCmsProfile(io.BytesIO(profile)), ImageCms.createProfile("sRGB")
        return ImageCms.profileToProfile(picture, *profiles, outputMode=picture.mode)
    except (ImageCms.PyCMSError, OSError, ValueError):
        return picture  # a broken profile: the pixels as they are


def _encode(picture: Any, lossy: bool) -> tuple[str, bytes]:
    """Exact where the file was, or where there are few colours; else a good JPEG (WebP where some of it is transparent)."""
    from PIL import Image

    clean = Image.new(picture.mode, picture.size)
    clean.paste(picture)
    stream, kind, options = io.BytesIO(), "jpeg", {"quality": 90, "optimize": True}
    if not lossy or clean.getcolors(256) is not None:
        kind, options = "png", {"optimize": True}
    elif clean.mode == "RGBA":
        kind, options = "webp", {"quality": 90, "method": 4}
    clean.save(stream, kind, **options)
    return f"image/{kind}", stream.getvalue()
