"""What commands write: tables, arrays and pictures by extension; each file whole or not at all."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearfar.cli._options import PRINTED, Given
from nearfar.errors import FileError, InputError, NearfarWarning

if TYPE_CHECKING:
    import polars as pl

    from nearfar.plot.style import Look
    from nearfar.report.figures import Printed

TABLES = (".csv", ".tsv", ".parquet", ".npz")
PICTURES = (".png", ".svg", ".pdf")


def is_picture(path: str) -> bool:
    """Whether an output is a picture, by its extension."""
    return Path(path).suffix.lower() in PICTURES


def draws(outputs: Sequence[str]) -> bool:
    """Whether one of the outputs is a picture."""
    return any(is_picture(path) for path in outputs)


def check_file(path: str | Path) -> None:
    """Fail before the work where a file could not be written after it; standard output always can."""
    from nearfar._tools.atomic import check_target

    if str(path) != "-":
        check_target(path)


def look_of(given: Given) -> Look:
    """How pictures are printed, by the options."""
    from nearfar.plot.style import Look, font, length

    family, size = font(given.font)
    width = length(given.width, "--width")
    height = None if given.height is None else length(given.height, "--height")
    return Look(width, height, family, size, given.dpi, not given.no_labels, given.title)


def check_outputs(given: Given, others: Sequence[str] = ()) -> None:
    """The same for every output, and whether its format is known."""
    outputs, known = given.output, (*TABLES, *PICTURES, *others)
    for path in outputs:
        suffix = Path(path).suffix.lower()
        if path != "-" and suffix not in known:
            wrong = f"this command cannot write {suffix or 'a file without extension'}"
            raise FileError(f"{path}: {wrong}; expected {', '.join(known)}")
        check_file(path)
    check_pictures(given, [path for path in outputs if is_picture(path)])


def check_pictures(given: Given, pictures: Sequence[str | Path]) -> None:
    """Whether pictures and their captions can be written as the options ask, before the work."""
    check_look(given, drawn=bool(pictures))
    for path in pictures:
        check_file(caption_path(path))


def check_look(given: Given, *, drawn: bool) -> None:
    """Whether the options about pictures are sound; an error where there is none that they could be about."""
    if drawn:
        from nearfar.plot.style import need_matplotlib

        need_matplotlib()
        look_of(given)
        return
    usual = {each.name: each.default for each in fields(Given)}
    for name in PRINTED[1:]:
        if getattr(given, name) != usual[name]:
            option = f"--{name.replace('_', '-')}"
            raise InputError(f"{option}: there is no picture; end an output in {' or '.join(PICTURES)}")


def caption_path(path: str | Path) -> Path:
    """Where the caption of a picture is written: ``map.caption.txt`` beside ``map.pdf``."""
    return Path(path).with_suffix(".caption.txt")


def write_picture(given: Given, path: str, picture: Callable[[Look], Printed]) -> None:
    """A picture, and its caption beside it."""
    look = look_of(given)
    printed = picture(look)
    if missing := printed.save(path, look):
        boxes = f"the font has no characters such as {missing[:5]!r}, so boxes stand for them"
        warnings.warn(f"{path}: {boxes}; --font names another font", NearfarWarning, stacklevel=2)
    write_bytes(str(caption_path(path)), f"{printed.caption}\n".encode())
    given.tell(f"wrote {path} and {caption_path(path).name}")


def write_all(
    given: Given,
    *,
    table: Callable[[], pl.DataFrame],
    arrays: Callable[[], Mapping[str, Any]],
    picture: Callable[[Look], Printed],
    text: Callable[[], str] = str,
) -> None:
    """Write every output by its extension, each made when asked for.

    ``table`` : one frame. ``arrays`` : name -> array, for .npz. ``picture`` : a figure and its caption. ``text`` : any other.
    """
    for path in given.output:
        suffix = ".csv" if path == "-" else Path(path).suffix.lower()
        if is_picture(path):
            write_picture(given, path, picture)
            continue
        from nearfar.io.table_writing import write_table, write_whole

        if suffix == ".npz":
            import numpy as np

            values: Any = {name: np.asarray(value) for name, value in arrays().items()}
            write_whole(path, partial(np.savez_compressed, allow_pickle=False, **values))
        elif suffix in TABLES:
            write_table(table(), path)
        else:
            write_bytes(path, text().encode())
        if path != "-":
            given.tell(f"wrote {path}")


def as_json(facts: Any) -> str:
    """Facts in the form of JSON that people can read."""
    return json.dumps(facts, indent=2, ensure_ascii=False) + "\n"


def write_bytes(path: str, data: bytes) -> None:
    """To a file that appears whole or not at all, or to standard output for ``-``."""
    from nearfar.io.table_writing import write_whole

    write_whole(path, lambda file: file.write(data))
