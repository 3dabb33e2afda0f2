"""Pictures of objects: found in a folder, made small, and turned into text that a page can hold."""

from __future__ import annotations

import base64
import io
import unicodedata
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from nearfar._tools import threads
from nearfar._tools.images import open_image
from nearfar._tools.progress import step
from nearfar._tools.text import PICTURES
from nearfar._tools.text import listed as listed_names
from nearfar.errors import FileError, NearfarWarning


@dataclass(frozen=True)
class Pictures:
    """Where the pictures are: a file per object, (file, what is wrong with it) of others, and files that belong to no object."""

    files: dict[str, Path]
    trouble: tuple[tuple[str, str], ...]
    unused: tuple[str, ...]


def side_for(count: int) -> int:
    """Longest side in pixels, such that ``count`` pictures keep the page small."""
    return next((side for most, side in ((150, 176), (500, 128), (1000, 96)) if count <= most), 72)


def find_pictures(
    names: Sequence[str],
    folder: Path | None = None,
    *,
    listed: Mapping[str, Path | None] | None = None,
    base: Path | None = None,
) -> Pictures:
    """A file for every object that has one: the one ``listed`` (object -> file), or that of its name, with or without extension.

    Only files inside ``folder`` and ``base``, the folder of the object list, are looked at, whatever an object or a list says.
    """
    shelf = _Shelf.of(folder) if folder is not None else _Shelf({}, {})
    inside = [root.resolve() for root in (folder, base) if root is not None]
    files: dict[str, Path] = {}
    trouble = [(text, "is a link that leaves the folder, and is not followed") for text in shelf.outside]
    for name in names:
        given = (listed or {}).get(name)
        file, reason = shelf.find(name) if given is None else _listed(given, shelf, inside)
        if file is not None:
            files[name] = file
        if reason:
            trouble.append((str(given.name if given else name), reason))
    taken = {path.resolve() for path in files.values()}
    unused = tuple(text for text, path in shelf.paths.items() if path.resolve() not in taken)
    if folder is not None and not files:
        there = f"{listed_names(unused, 3)} belong to none" if unused else "there is none"
        told = (
            f"{folder}: no object has a picture: {there}; files are named as objects, such as {names[0]}.png"
        )
        warnings.warn(told, NearfarWarning, stacklevel=2)
    return Pictures(files, tuple(trouble), unused)


@dataclass(frozen=True)
class _Shelf:
    """The picture files of a folder: by relative path, and by every key that an object may have."""

    paths: dict[str, Path]
    keys: dict[str, list[str]]
    outside: tuple[str, ...] = ()  # links that leave the folder

    @classmethod
    def of(cls, folder: Path) -> _Shelf:
        if not folder.is_dir():
            reason = "is a file" if folder.exists() else "there is no such folder"
            raise FileError(f"{folder}: {reason}; expected the folder that holds the pictures")
        files = sorted(p for p in folder.rglob("*") if p.suffix.lower() in PICTURES and p.is_file())
        home = folder.resolve()
        outside = [path for path in files if not path.resolve().is_relative_to(home)]
        files = [path for path in files if path not in outside]
        paths = {path.relative_to(folder).as_posix(): path for path in files}
        keys: dict[str, list[str]] = {}
        for text in paths:
            relative = PurePosixPath(text)
            for key in {text, relative.name, str(relative.with_suffix("")), relative.stem}:
                keys.setdefault(_fold(key), []).append(text)
        return cls(paths, keys, tuple(path.relative_to(folder).as_posix() for path in outside))

    def find(self, name: str) -> tuple[Path | None, str]:
        """The file of an object, and a remark where several could be it."""
        for key in (name, PurePosixPath(name.replace("\\", "/")).name, name.removeprefix("./")):
            texts = self.keys.get(_fold(key), [])
            if texts:
                # of several the one spelled exactly so, else the first
                best = min(texts, key=lambda text: (key not in (text, PurePosixPath(text).stem), text))
                others = [text for text in texts if text != best]
                remark = f"{name} could also be {others[0]}; {best} was taken" if others else ""
                return self.paths[best], remark
        return None, ""


def _fold(key: str) -> str:
    return unicodedata.normalize("NFC", key).casefold()


def _listed(given: Path, shelf: _Shelf, inside: list[Path]) -> tuple[Path | None, str]:
    """The file that an object list names: as it says, else of that name in the folder of pictures."""
    if "http:/" in given.as_posix() or "https:/" in given.as_posix():
        return None, "is an address, not a file; pictures are never fetched"
    if given.is_file():
        if any(given.resolve().is_relative_to(root) for root in inside):
            return given, ""
        return None, "lies outside the folder of the object list; name its folder with --images"
    file, _ = shelf.find(given.name)
    return file, "" if file is not None else "is not there"


def thumbnails(
    files: Mapping[str, Path], at_once: int = 16
) -> tuple[dict[str, tuple[str, int, int]], list[tuple[str, str]]]:
    """Small pictures as (data URI, width, height) by name, and (file, reason) of those that cannot be read."""
    side, names = side_for(len(files)), list(files)
    done: dict[str, tuple[str, int, int]] = {}
    unreadable = []
    with step("pictures", total=len(files)) as advance, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pillow's remarks on odd headers; what cannot be read is listed
        for start in range(0, len(names), at_once):
            batch = names[start : start + at_once]
            made = threads.run(_shrink, [(files[name], side) for name in batch])
            for name, small in zip(batch, made, strict=True):
                if isinstance(small, tuple):
                    done[name] = small
                else:
                    unreadable.append((files[name].name, small))
            advance(len(batch))
    return done, unreadable


def _shrink(path: Path, side: int) -> tuple[str, int, int] | str:
    """A thumbnail at most ``side`` pixels long, or the reason why there is none."""
    if path.suffix.lower() == ".svg":
        return "is a drawing in SVG; save it as PNG or JPEG"
    try:
        picture = open_image(path, side)
    except FileError as error:
        return str(error).removeprefix(f"{path}: ")
    kind, data = _encode(picture)
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}", picture.width, picture.height


def _encode(picture: Any) -> tuple[str, bytes]:
    """The bytes of a small picture: exact where it has few colours (a drawing, a swatch), else as small as looks good."""
    from PIL import features

    stream = io.BytesIO()
    webp = features.check("webp")
    if picture.getcolors(64) is not None or (picture.mode == "RGBA" and not webp):
        picture.save(stream, "PNG", optimize=True)
        return "png", stream.getvalue()
    kind = "webp" if webp else "jpeg"
    picture.save(stream, kind.upper(), quality=80)
    return kind, stream.getvalue()
