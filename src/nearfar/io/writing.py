"""Writing answers: Triplets -> a file of any format, in any dialect."""

from __future__ import annotations

import io
import os
import warnings
from typing import Any, BinaryIO

import numpy as np
import polars as pl

from nearfar._tools.atomic import atomic_path
from nearfar._tools.terminal import write_out
from nearfar.errors import FileError, NearfarWarning, TripletError
from nearfar.io.dialects import DIALECTS, Dialect, named
from nearfar.io.sources import KNOWN, format_of
from nearfar.io.table_writing import guard_formulas, write_excel
from nearfar.triplets import Triplets
from nearfar.triplets.ids import Ids

__all__ = ["write_triplets"]

OPTIONAL = ("statement", "participant", "seconds", "near_side", "answered_at", "rule")


def write_triplets(
    triplets: Triplets, path: str | os.PathLike[str], *, dialect: str = "canonical", format: str | None = None
) -> None:
    """Write answers to a file, which appears whole or not at all.

    Parameters
    ----------
    triplets : the answers.
    path : where to; the extension says the format (as for ``read_triplets``). ``"-"`` is standard output.
    dialect : what the columns mean: canonical, odd-one-out, most-central, salmon, tripletTools, next, things,
        list-order (cblearn's). What a dialect has no column for is written under our own names; only the bare rows of things
        and list-order have no room for it, and then a warning names what was left out.
    format : the format where the extension does not say it, e.g. ``"csv"`` or ``"jsonl.gz"``; for standard output
        csv is the default.

    Examples
    --------
    >>> answers = Triplets([0], [1], [2], ["red", "pink", "blue"], participant=["ann"])
    >>> write_triplets(answers, "-")
    anchor,near,far,participant
    red,pink,blue,ann
    """
    chosen = named(dialect)
    if chosen.write is None:
        known = ", ".join(one.name for one in DIALECTS if one.write is not None)
        raise TripletError(
            f"dialect: {chosen.name} cannot be written; expected one of {known}",
        )
    target = os.fspath(path)
    if format is not None:
        try:
            format_, packed = format_of(f"answers.{format.lstrip('.')}")
        except FileError as error:
            raise FileError(
                f"format: {format!r} is not a file format; expected {KNOWN}; what columns mean is said by the dialect (--to)"
            ) from error
    else:
        format_, packed = ("csv", None) if target == "-" else format_of(target)
    table = chosen.write(triplets)
    _warn_of_loss(triplets, chosen, format_)
    if target == "-":
        stream = io.BytesIO()
        _write(triplets, table, chosen, stream, format_, packed)
        write_out(stream.getvalue())
        return
    with atomic_path(target) as temporary, open(temporary, "wb") as file:
        _write(triplets, table, chosen, file, format_, packed)


def _write(
    triplets: Triplets,
    table: pl.DataFrame,
    dialect: Dialect,
    file: BinaryIO,
    format_: str,
    packed: str | None,
) -> None:
    if format_ in ("npz", "npy"):
        _write_arrays(triplets, dialect, file, format_)
        return
    if format_ == "parquet":
        table.write_parquet(file)
        return
    text = table.with_columns(pl.selectors.enum().cast(pl.String))
    if format_ in ("csv", "tsv", "txt", "xlsx"):
        text = guard_formulas(text)
    compression: Any = packed or "uncompressed"
    if format_ == "jsonl":
        text.write_ndjson(file, compression=compression, check_extension=False)
    elif format_ == "json":
        raise FileError("json: can only be read; write jsonl, one object per line")
    elif format_ == "xlsx":
        write_excel(text, file)
    else:
        text.write_csv(
            file,
            separator="," if format_ == "csv" else "\t",
            include_header=dialect.writes_header,
            compression=compression,
            check_extension=False,
        )


def _write_arrays(triplets: Triplets, dialect: Dialect, file: BinaryIO, format_: str) -> None:
    if dialect.name not in ("canonical", "list-order") or (format_ == "npy" and dialect.name != "list-order"):
        allowed = "list-order" if format_ == "npy" else "canonical or list-order"
        raise FileError(
            f"{format_}: holds arrays, not {dialect.name} rows; expected the dialect {allowed}",
        )
    if format_ == "npy":
        np.save(file, triplets.array)
        return
    arrays: dict[str, Any] = {"objects": _text(list(triplets.objects), "objects")}
    if dialect.name == "list-order":
        arrays["triplets"] = triplets.array
    else:
        arrays |= {"anchor": triplets.anchor, "near": triplets.near, "far": triplets.far}
    for role in OPTIONAL:
        values = getattr(triplets, role)
        if isinstance(values, Ids):
            values = (
                values.names[values.codes] if values.is_numeric else _text(np.asarray(values).tolist(), role)
            )
        if values is not None:
            arrays[role] = values
    np.savez_compressed(file, **arrays)


def _text(names: list[str], role: str) -> np.ndarray:
    """Text of fixed width, which needs no pickle; numpy would drop NUL characters at its end."""
    if any(name.endswith("\0") for name in names):
        raise TripletError(
            f"{role}: a name ends in a NUL character, which npz cannot keep; write another format",
        )
    return np.array(names, dtype=np.str_)


def _warn_of_loss(triplets: Triplets, dialect: Dialect, format_: str) -> None:
    """Bare rows of numbers have no room for anything else."""
    if dialect.writes_header or format_ == "npz":
        return
    lost = [role for role in OPTIONAL if getattr(triplets, role) is not None]
    if dialect.name != "list-order" and triplets.statement is not None:
        again = Ids.encode(np.repeat(np.arange((len(triplets) + 1) // 2), 2)[: len(triplets)])
        same = triplets.statement.is_numeric and (np.asarray(triplets.statement) == np.asarray(again)).all()
        lost = [role for role in lost if role != "statement" or not same]
    if triplets.objects != tuple(map(str, range(triplets.n_objects))):
        lost.insert(0, "the names of objects")
    if lost:
        warnings.warn(
            f"{dialect.name}: bare rows of indices have no room for {', '.join(lost)}; left out",
            NearfarWarning,
            stacklevel=3,
        )
