"""Vectors per object, such as features of pictures or measurements: from files, arrays and data frames."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nearfar._tools.checks import brief
from nearfar._tools.memory import check_bytes
from nearfar._tools.text import listed, plural
from nearfar.errors import FeatureWarning, FileError, InputError
from nearfar.io.naming import unguarded
from nearfar.io.objects import all_cells, open_table, readable
from nearfar.io.sources import Source, decode, find_sources
from nearfar.io.table import as_text, plain
from nearfar.io.typed_tables import load_arrays
from nearfar.triplets.columns import sound_names

NAMES = ("names", "objects", "object")  # arrays of an archive that name the rows
UNTITLED = ("", "unnamed: 0")  # what programs call the numbers of rows, which are no feature in any order
INDICES = (*UNTITLED, "index", "idx", "id", "row", "rowid", "row_nr", "nr", "no", "#")


@dataclass(frozen=True, eq=False)
class VectorTable:
    """Vectors per object from one source.

    ``objects`` : names of the rows; None where rows are in the order of the objects. ``values`` : (rows, p) float64,
    finite. ``columns`` : names of the p columns; () where they have none.
    """

    name: str
    objects: tuple[str, ...] | None
    values: NDArray[np.float64]
    columns: tuple[str, ...] = ()


def read_named_vectors(files: Sequence[str], *, vary: bool = True) -> list[VectorTable]:
    """Read files given as FILE or NAME=FILE, each a source of vectors or several; ``vary`` as for ``vector_tables``."""
    tables: list[VectorTable] = []
    for each in files:
        name, mark, path = each.partition("=")
        is_named = mark and not Path(each).is_file()
        if is_named and not (name and path):
            raise InputError(f"{each}: expected FILE or NAME=FILE, for example clip=clip.npy")
        tables += vector_tables({name: path} if is_named else each, vary=vary)
    return vector_tables(tables)


def vector_tables(features: Any, *, vary: bool = True) -> list[VectorTable]:
    """Vectors per object as users give them; constant columns give a ``FeatureWarning``, unless columns need not ``vary``.

    A table has a column ``object`` and columns of numbers; the rows of an ``.npy`` file are in the order of the objects.
    In an ``.npz`` archive each 2-d array of numbers is a source, and ``names``, ``objects`` or ``object`` names its rows,
    or else an array of as many different texts.

    ``features`` : an array with rows in the order of the objects, a data frame with a column ``object`` (or, of pandas,
    with names as its index), a path, a ``VectorTable``, a list of these, or a dict of names and these. Of an archive, the name
    selects the array that is called so.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "taste.csv"
    >>> _ = file.write_text("object,sweet,sour\\nfig,.9,.1\\nlime,.2,.8\\n")
    >>> vector_tables(file)[0].columns
    ('sweet', 'sour')
    """
    given: list[tuple[Any, str | None, str]] = [(features, None, "features")]
    if isinstance(features, Mapping):
        given = [(one, str(name), "") for name, one in features.items()]
    elif isinstance(features, (list, tuple)):
        given = [(one, None, f"features {i}") for i, one in enumerate(features, 1)]
    tables: list[VectorTable] = []
    for one, name, nameless in given:
        if isinstance(one, VectorTable):  # its columns were checked when it was read
            name = name or one.name
            tables.append(_checked(name, name, one.values, one.objects, one.columns))
            continue
        for where, table in _given(one, name, nameless):
            if vary:
                _check_columns(where, table)
            tables.append(table)
    names = [table.name for table in tables]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(f"two sources are called {twice[0]!r}; give each a name of its own")
    return tables


Located = list[tuple[str, VectorTable]]  # where each table comes from, and the table


def _given(given: Any, name: str | None, nameless: str) -> Located:
    from narwhals.dependencies import is_into_dataframe  # here, for commands that read no vectors

    if isinstance(given, (str, os.PathLike)):
        sources = (readable(source, lambda each: _read(each, name)) for source in find_sources(given))
        return [table for tables in sources for table in tables]
    name = name or nameless
    given = given.to_frame() if hasattr(given, "to_frame") else given  # a series may name its rows
    if is_into_dataframe(given):
        names = getattr(given, "index", [None])  # only pandas has one
        called = plain(str(getattr(names, "name", "")))
        are_names = called == "object" or all(isinstance(x, str) for x in names)
        if are_names and "object" not in map(plain, map(str, given)):
            given = given.rename_axis(index="object").reset_index()
        return _read(Source(name, "frame", given), name)
    if not hasattr(given, "__array__"):
        expected = "expected an array, a data frame, a path, or a list or dict of these"
        raise InputError(f"{name}: cannot be read from {type(given).__name__}; {expected}")
    masked = isinstance(given, np.ma.MaskedArray)
    return [(name, _checked(name, name, given.astype(float).filled(np.nan) if masked else given))]


def _read(source: Source, name: str | None) -> Located:
    where = source.name
    if source.format == "npz":
        return _read_archive(source, name)
    name = name or Path(where.removesuffix(".gz").removesuffix(".zst")).stem
    if source.format == "npy":
        return [(where, _checked(where, name, load_arrays(source)[""]))]
    table = open_table(source)
    if (at := table.header.find("object")) is None:
        held = listed([repr(title) for title in table.header.cells])
        raise FileError(f"{where}: has no column 'object', only {held}; add the names of the objects")
    header = dict(zip(table.schema, table.header.cells, strict=True))
    cells = all_cells(table, range(len(header)))
    column = cells.select(as_text(pl.col(f"c{at}"), cells.schema[f"c{at}"]).fill_null("")).to_series()
    objects = [unguarded(text) if table.guarded else text for text in column]
    cells = cells.drop(f"c{at}")
    comma = "," if table.decimal_comma else "."
    texts = cells.with_columns(pl.col(pl.String).str.strip_chars().str.replace(comma, ".", literal=True))
    numbers = texts.cast(pl.Float64, strict=False)
    for key, kind in cells.schema.items():
        wrong = (numbers[key].is_null() & cells[key].is_not_null()) | kind.is_temporal()
        if wrong.any():
            row = wrong.arg_true()[0]
            held = f"row {objects[row]!r}, column {header[key]!r} is {brief(str(cells[key][row]))}"
            raise FileError(f"{where}: {held}; expected a number; correct it, or take the column out")
    return [(where, _checked(where, name, numbers.to_numpy(), objects, [header[x] for x in cells.columns]))]


def _read_archive(source: Source, name: str | None) -> Located:
    """The arrays of an NPZ archive: all, or that which ``name`` selects; where there is only one, it is renamed."""
    arrays = load_arrays(source)
    named = [arrays[key] for key in NAMES if key in arrays]
    named = [x.ravel() for x in named if x.dtype.kind in "US" or (x.ndim == 1 and x.dtype.kind in "iu")]
    texts = [x for x in arrays.values() if x.dtype.kind in "US" and np.unique(x).shape == x.shape]
    chosen = {key: x for key, x in arrays.items() if x.ndim == 2 and x.dtype.kind in "biuf"}
    if name is not None and (name in arrays or len(chosen) == 1):
        chosen = {name: arrays[name] if name in arrays else next(iter(chosen.values()))}
    elif name is not None or not chosen:
        held = listed([f"{key!r} {x.shape}" for key, x in arrays.items()]) or "no arrays"
        expected = "a 2-d array of numbers" if name is None else f"one of these names, not {name!r}"
        raise FileError(f"{source.name}: holds {held}; expected {expected}")
    tables = []
    for key, array in chosen.items():
        fitting = sorted(named, key=lambda names: names.shape != array.shape[:1])[:1]
        fitting = fitting or [x for x in texts if x.shape == array.shape[:1]][:1]
        rows = [[(decode(t) or "") if isinstance(t, bytes) else str(t) for t in x.tolist()] for x in fitting]
        where = f"{source.name}, {key}"
        numbers = {k: x for k, x in arrays.items() if x.dtype.kind in "iu" and x.shape == array.shape[:1]}
        ids = [k for k, x in numbers.items() if np.unique(x).size == x.size and (np.diff(x) != 1).any()]
        if ids and not rows:
            order = f"rows are taken in the order of the objects; if {ids[0]!r} names them, call it 'names'"
            warnings.warn(f"{where}: {order}", FeatureWarning, stacklevel=5)
        tables.append((where, _checked(where, key, array, *rows)))
    return tables


def _checked(
    where: str, name: str, values: Any, objects: Sequence[str] | None = None, columns: Sequence[str] = ()
) -> VectorTable:
    """The vectors as float64; an error where they cannot be vectors."""
    array = np.asarray(values)
    array = array[:, None] if array.ndim == 1 else array
    if array.dtype.kind not in "biuf":
        raise InputError(f"{where}: holds values of type {array.dtype}; expected real numbers")
    rows_fit = objects is None or array.shape[:1] == (len(objects),)
    if array.ndim != 2 or not array.size or not rows_fit or len(columns) not in (0, array.shape[1]):
        has = f"has shape {array.shape}" + ("" if objects is None else f" and {len(objects):,} names")
        raise InputError(f"{where}: {has}; expected one row per object and at least one column of numbers")
    try:
        names = None if objects is None else sound_names(objects)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error
    check_bytes(8 * array.size, f"{where}: its vectors need", "take fewer columns")
    with np.errstate(over="ignore"):  # what float64 cannot hold is infinite, and refused
        array = array.astype(np.float64)
    titles = columns or range(array.shape[1])
    if not (finite := np.isfinite(array)).all():
        row, column = divmod(int(np.argmin(finite)), array.shape[1])
        counted = "" if names and columns else " (counted from 0)"
        held = f"row {(names or range(len(array)))[row]!r}, column {titles[column]!r}{counted} is {array[row, column]}"
        raise InputError(f"{where}: {held}; expected a finite number; correct it, or leave it out")
    distinct = len({*columns}) == len(columns)  # else they do not say which is which
    return VectorTable(name, names, array, tuple(columns) if distinct else ())


def _check_columns(where: str, table: VectorTable) -> None:
    """Warn of constant columns; an error where all are, or where one only counts the rows."""
    array, titled = table.values, bool(table.columns)
    titles = np.array(table.columns or range(array.shape[1]), dtype=object)
    varies = array.max(axis=0) > array.min(axis=0)
    if len(array) > 1 and not varies.any():
        raise InputError(f"{where}: all columns are constant; expected vectors in which objects differ")
    if len(array) > 1 and not varies.all():
        alike = listed([repr(title) for title in titles[~varies]], most=3)
        said = f"{plural(int(np.sum(~varies)), 'a column says', 'some columns say')} nothing, being constant: {alike}"
        warnings.warn(f"{where}: {said}", FeatureWarning, stacklevel=5)
    for i in range(len(titles)) if titled else np.flatnonzero(varies)[: len(titles) > 3]:
        column, title = array[:, i], titles[i].strip().lower() if titled else None
        suspect = len(array) > 2 and (not titled or title in INDICES)
        whole = title in UNTITLED and len(np.unique(column)) == len(column) and not (column % 1).any()
        if suspect and (whole or np.array_equal(column, np.arange(len(column)) + (column[0] == 1))):
            raise InputError(f"{where}: column {titles[i]!r} counts the rows; it is no feature, take it out")
