"""Tables by format, and object lists: names, with display names, images and groups for people to see."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import polars as pl

from nearfar._tools.memory import check_bytes
from nearfar._tools.text import listed, plural
from nearfar.errors import FileError, InputError, TripletError
from nearfar.io.csv_table import CsvTable
from nearfar.io.excel_table import excel_table
from nearfar.io.json_table import JsonTable
from nearfar.io.naming import Numbers, unguarded
from nearfar.io.parse_rows import REJECTED, rows_error
from nearfar.io.sources import Source, as_utf8, find_sources
from nearfar.io.table import Table, plain
from nearfar.io.typed_tables import array_table, frame_table, npz_table, parquet_table
from nearfar.triplets.columns import sound_names

T = TypeVar("T")
MOST_OBJECTS = 2**31 - 1  # an index has 32 bits
OPENERS: dict[str, Callable[[Source], Table]] = {
    **dict.fromkeys(("csv", "tsv", "txt"), CsvTable),
    **dict.fromkeys(("jsonl", "json"), JsonTable),
    **dict.fromkeys(("npy", "array"), array_table),
    "parquet": parquet_table,
    "xlsx": excel_table,
    "npz": npz_table,
    "frame": frame_table,
}


def open_table(source: Source) -> Table:
    """Look at the start of a source: its columns, and what it says about itself."""
    return OPENERS[source.format](source)


@dataclass(frozen=True)
class ObjectList:
    """Objects in their order.

    Attributes
    ----------
    names : the names used in the answers.
    display_names : what to call them in pictures; the name where nothing else was given.
    images : the file of each one's picture, relative to the list itself; None where there is none.
    groups : the group of each; None where there is none.
    properties : further columns: numbers where all cells are numbers, else text; None where a cell is empty.

    Examples
    --------
    >>> ObjectList(("red", "blue"), ("rot", "blau"), (None, None), ("warm", "cold")).groups
    ('warm', 'cold')
    """

    names: tuple[str, ...]
    display_names: tuple[str, ...]
    images: tuple[Path | None, ...]
    groups: tuple[str | None, ...]
    properties: Mapping[str, tuple[float | str | None, ...]] = field(default_factory=dict)


def as_names(
    objects: ObjectList | Sequence[str] | str | os.PathLike[str] | int | None,
) -> Sequence[str] | None:
    """The names of an object list, however it was given; a number n stands for the names 0 to n - 1.

    >>> list(as_names(3))
    ['0', '1', '2']
    """
    if isinstance(objects, (int, np.integer)):
        if not 0 <= objects < MOST_OBJECTS:
            raise InputError(f"objects: must be a number from 0 to {MOST_OBJECTS:,}, got {objects}")
        return Numbers(int(objects))
    if isinstance(objects, (str, os.PathLike)):
        objects = read_objects(objects)
    if objects is None or isinstance(objects, ObjectList):
        return None if objects is None else objects.names
    return sound_names(objects)


def read_objects(path: str | os.PathLike[str]) -> ObjectList:
    """Read an object list: column ``object``, optional ``display_name``, ``image``, ``group``, and properties; any table format.

    Parameters
    ----------
    path : the file; images are taken relative to it.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "objects.csv"
    >>> _ = file.write_text("object,display_name,group\\n007,Bond,spies\\n008,,spies\\n")
    >>> listed = read_objects(file)
    >>> listed.names, listed.display_names
    (('007', '008'), ('Bond', '008'))
    """
    source = find_sources(path)[0]
    table = readable(source, open_table)
    known = ("object", "display_name", "image", "group")
    seen = Counter(map(plain, (*known, *table.header.cells)))
    unique = [(at, cell) for at, cell in enumerate(table.header.cells) if seen[plain(cell)] == 1]
    further = [cell for at, cell in unique if plain(cell) and table.holds_values(at)]
    columns = read_columns(source, known[:1], (*known[1:], *further))
    try:
        names = sound_names([name or "" for name in columns["object"]])
    except TripletError as error:
        raise FileError(f"{source.name}: {error}") from error
    folder = Path(source.name).parent if isinstance(source.data, Path) else Path()
    return ObjectList(
        names,
        tuple(shown or name for shown, name in zip(columns["display_name"], names, strict=True)),
        tuple(folder / image if image else None for image in columns["image"]),
        tuple(group or None for group in columns["group"]),
        {name: _values(columns[name], table.decimal_comma) for name in further},
    )


def _values(cells: Sequence[str | None], decimal_comma: bool) -> tuple[float | str | None, ...]:
    """The cells of a property: numbers where all are numbers, else text."""
    point = "." if decimal_comma else ","
    try:
        numbers = [float((cell or "nan").replace(",", point)) for cell in cells]
    except ValueError:
        return tuple(cell or None for cell in cells)
    return tuple(number if np.isfinite(number) else None for number in numbers)


def read_columns(
    path: str | os.PathLike[str] | Source, needed: Sequence[str], others: Sequence[str] = ()
) -> dict[str, list[str | None]]:
    """The text of some columns of a table in any format; a column of ``others`` may be missing."""
    return readable(find_sources(path)[0], lambda source: _columns_of(open_table(source), needed, others))


def readable(source: Source, read: Callable[[Source], T]) -> T:
    """What is read from a source, as UTF-8, UTF-16 or Latin-1."""
    try:
        return read(source)
    except InputError:
        if (other := as_utf8(source)) is None:
            raise
        return read(other[0])


def _columns_of(table: Table, needed: Sequence[str], others: Sequence[str]) -> dict[str, list[str | None]]:
    where = {role: table.header.find(role) for role in (*needed, *others)}
    if any(where[role] is None for role in needed):
        has, named = ", ".join(map(repr, table.header.cells)), listed(list(map(repr, needed)))
        wanted = f"{plural(len(needed), 'a column', 'columns')} named {named}"
        raise FileError(f"{table.name}: expected a table with {wanted}; its columns are {has}")
    kept = all_cells(table, [at for at in where.values() if at is not None])
    columns: dict[str, list[str | None]] = {}
    for role, at in where.items():
        texts = [None] * len(kept) if at is None else kept[f"c{at}"].cast(pl.String).to_list()
        columns[role] = [unguarded(text) if text and table.guarded else text for text in texts]
    return columns


def all_cells(table: Table, used: Iterable[int]) -> pl.DataFrame:
    """All rows of a table that are not blank; each cell of the columns that are ``used`` must hold one value."""
    for position in used:
        table.need_values(position)
    frames, faults, size = [pl.DataFrame(schema=table.schema)], list[tuple[Any, ...]](), 0
    for batch in table.cells(has_header=True, rows=1 << 20):
        frames.append(batch.frame)
        faults += [(table.name, *fault) for fault in batch.faults]
        size += int(batch.frame.estimated_size())
        check_bytes(size, f"{table.name}: its cells need more than", "take fewer rows or columns")
    cells = pl.concat(frames)
    if faults:
        rejected = pl.DataFrame(faults, schema=REJECTED, orient="row")
        raise rows_error(table, rejected, len(cells) + len(faults), droppable=False)
    return cells.filter(~pl.all_horizontal(pl.all().is_null()))
