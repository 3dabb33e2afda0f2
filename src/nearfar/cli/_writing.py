"""What commands write: tables, arrays and pictures by extension; each file whole or not at all."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearfar._tools.terminal import write_out
from nearfar.cli._options import Given
from nearfar.errors import FileError

if TYPE_CHECKING:
    import polars as pl

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


def check_outputs(outputs: Sequence[str], others: Sequence[str] = ()) -> None:
    """The same for every output, and whether its format is known."""
    known = (*TABLES, *PICTURES, *others)
    for path in outputs:
        suffix = Path(path).suffix.lower()
        if path != "-" and suffix not in known:
            raise FileError(
                f"{path}: this command cannot write {suffix or 'a file without extension'}; expected {', '.join(known)}"
            )
        check_file(path)
    if draws(outputs):
        from nearfar.report.figures import need_matplotlib

        need_matplotlib()


def write_all(
    given: Given,
    *,
    table: Callable[[], pl.DataFrame],
    arrays: Callable[[], Mapping[str, Any]],
    picture: Callable[[], Any],
    text: Callable[[], str] = str,
) -> None:
    """Write every output by its extension, each made when asked for.

    ``table`` : one frame. ``arrays`` : name -> array, for .npz. ``picture`` : a matplotlib figure. ``text`` : any other.
    """
    for path in given.output:
        suffix = ".csv" if path == "-" else Path(path).suffix.lower()
        if is_picture(path):
            from nearfar.report.figures import save_figure

            save_figure(picture(), path)
        elif suffix == ".npz":
            import numpy as np

            stream = io.BytesIO()
            values = {name: np.asarray(value) for name, value in arrays().items()}
            np.savez_compressed(stream, allow_pickle=False, **values)
            write_bytes(path, stream.getvalue())
        elif suffix == ".parquet":
            stream = io.BytesIO()
            table().write_parquet(stream)
            write_bytes(path, stream.getvalue())
        elif suffix in TABLES:
            from nearfar.io.table_writing import write_table

            write_table(table(), path)
        else:
            write_bytes(path, text().encode())
        if path != "-":
            given.tell(f"wrote {path}")


def write_bytes(path: str, data: bytes) -> None:
    """To a file that appears whole or not at all, or to standard output for ``-``."""
    from nearfar._tools.atomic import atomic_path

    if path == "-":
        write_out(data)
        return
    with atomic_path(path) as temporary:
        temporary.write_bytes(data)
