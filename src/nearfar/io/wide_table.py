"""Tables with a column per question, or per object: seen as one row per cell, whatever the format."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nearfar._tools.text import listed
from nearfar.errors import ColumnsError, FileError, InputError
from nearfar.io.column_words import LESS, has, words
from nearfar.io.dialects.mapped import CHOICES, OPTIONAL, by_number, is_overlay, positions
from nearfar.io.dialects.orders import VALUES
from nearfar.io.naming import NUMBER
from nearfar.io.objects import read_columns
from nearfar.io.table import (
    Cells,
    Coded,
    Header,
    Table,
    as_text,
    is_nothing,
    plain,
    split_list,
    warn,
    with_point,
)
from nearfar.io.typed_tables import matrix_table

MATRICES = {"similaritymatrix": "similarity", "distancematrix": "distance"}
MARKS = (">", "[;|]", ",")  # between the objects of a ranking
SAMPLE_ROWS = 1 << 16  # that are looked at before all are read
MOST_OPTIONS = 30  # that are looked for in a key
Columns = Mapping[str, Any] | None
Questions = Mapping[int, tuple[str, ...]]  # column -> what it is about


class _Reshaped(Table):
    """Another table with other rows and columns; all cells are text."""

    typed = False
    has_header = True

    def __init__(self, inner: Table, kept: Mapping[int, str], names: Sequence[str]) -> None:
        also = {inner.header.cells[at]: place for place, at in enumerate(kept)}
        super().__init__(inner.source, Header(inner.name, [*kept.values(), *names], also))
        self._inner, self.row_word = inner, inner.row_word
        self.guarded, self.decimal_comma = inner.guarded, inner.decimal_comma

    def _parts(self, used: Sequence[int], rows: int) -> Iterator[tuple[Cells, pl.DataFrame]]:
        """Some columns of the inner table with the line of each row, blank rows left out."""
        for at in used:
            self._inner.need_values(at)
        texts = [as_text(pl.col(f"c{at}"), self._inner.schema[f"c{at}"]) for at in used]
        for part in self._inner.cells(self.has_header, rows):
            lines = part.lines_of(pl.int_range(len(part.frame), eager=True))
            frame = part.frame.select(texts).with_columns(line=lines)
            yield part, frame.filter(~pl.all_horizontal(pl.exclude("line").is_null()))


class RankedTable(_Reshaped):
    """A row for each object of a ranking that stands in one cell: fig > plum > lime; or with ; or | or commas.

    ``kept`` : the other columns and their roles, ``ranking`` : that of the rankings, each of which is a statement.
    """

    def __init__(self, inner: Table, kept: Mapping[int, str], ranking: int, *, may_be_bare: bool) -> None:
        self._kept, self._ranking = list(kept), ranking
        super().__init__(inner, kept, ["statement", "object", "rank"])
        if may_be_bare:  # then the first line is an answer if a name of it occurs further down
            first = re.split(r"\s*[>;|,]\s*", inner.header.cells[ranking].strip())
            at = len(kept) + 1, self.header.cells.index("anchor")
            below = [part.frame[f"c{i}"] for part in islice(self.cells(True, 1 << 16), 1) for i in at]
            self.has_header = not any(names.is_in(first).any() for names in below)

    def cells(self, has_header: bool, rows: int, coded: Coded | None = None) -> Iterator[Cells]:
        """The rankings of some rows, one after the other."""
        cell, kept = pl.col(f"c{self._ranking}"), [pl.col(f"c{at}") for at in self._kept]
        names = split_list(pl.when(~is_nothing(cell.str.strip_chars('[] "'))).then(cell), MARKS)
        for part, frame in self._parts([*self._kept, self._ranking], rows):
            ranks = pl.int_ranges(1, names.list.len() + 1)
            long = frame.select(*kept, statement="line", object=names, rank=ranks).explode("object", "rank")
            named, twice = pl.col("object") != "", pl.struct("statement", "object").is_duplicated()
            rank = pl.when(named & twice).then(pl.lit("twice")).otherwise(pl.col("rank").cast(pl.String))
            long = long.with_columns(rank=rank, object=pl.when(named).then("object"))
            cells = pl.DataFrame(dict(zip(self.schema, long.cast({"statement": pl.String}), strict=True)))
            records = part.records - len(part.frame) + len(long)
            yield Cells(cells, records, part.first, long["statement"], part.faults)


class WideTable(_Reshaped):
    """A row for each cell of some columns of ``inner``, beside the other columns, which are ``kept`` under their names.

    ``about`` : column -> the texts that all of its cells get, under the names of ``roles``, of which the last is that of the
    cell itself. ``by_row`` : whether a row is a participant, where none of the kept columns is.
    """

    def __init__(
        self, inner: Table, about: Questions, roles: Sequence[str], kept: Mapping[int, str], *, by_row: bool
    ) -> None:
        self._about, self._kept = about, list(kept)
        self._by_row = by_row and "participant" not in kept.values()
        super().__init__(inner, kept, [*["participant"] * self._by_row, *roles])

    def cells(self, has_header: bool, rows: int, coded: Coded | None = None) -> Iterator[Cells]:
        """Column after column of some rows."""
        first = [f"c{at}" for at in self._kept]
        names, texts = [f"c{at}" for at in self._about], zip(*self._about.values(), strict=True)
        about = [pl.col("variable").replace_strict(names, own, return_dtype=pl.String) for own in texts]
        columns = [*map(pl.col, [*first, *["line"] * self._by_row]), *about, pl.col("value")]
        cells = [column.cast(pl.String).alias(f"c{at}") for at, column in enumerate(columns)]
        for part, frame in self._parts([*self._kept, *self._about], rows):
            long = frame.unpivot(names, index=[*first, "line"])
            sound = part.records - len(part.faults) - len(part.frame) + len(frame)  # as the parser must find
            records = sound * len(names) + len(part.faults)
            yield Cells(long.select(cells), records, part.first, long["line"], part.faults)


def reshaped(table: Table, wide: str | None, dialect: str | None, columns: Columns) -> tuple[Table, Columns]:
    """The table and its roles as they are, or with a row per cell where questions or objects are columns.

    That is so where ``wide`` or the dialect says it. The other columns of roles are then called by them.
    """
    name, roles, made = plain(dialect or ""), dict(columns or {}), table
    if wide is not None:
        coded = {role: "choice" for role in CHOICES if roles.pop(role, None)}
        value = next((role for role in VALUES if roles.pop(role, None)), "")
        made, roles = _survey(table, wide, roles, value), {role: role for role in roles} | coded
    elif name in MATRICES:
        rows = _square(table)
        table = table if rows is None else matrix_table(table.source, rows)
        made = _by_objects(table, ("object_2", MATRICES[name]), roles, label="object_1")
    elif name == "pilesort" and table.header.find("pile") is None and "pile" not in roles:
        made = _by_objects(table, ("object", "pile"), roles)
    elif ranked := _ranked(table.header, roles):
        at = ranked.pop("rank")
        bare = table.may_be_bare and bool(roles) and by_number(roles)
        made = RankedTable(table, {own: role for role, own in ranked.items()}, at, may_be_bare=bare)
        roles = {role: at for role, at in roles.items() if role in ranked and role in OPTIONAL}
    return made, columns if made is table else roles if wide is not None else {role: role for role in roles}


def _square(table: Table) -> NDArray[np.float64] | None:
    """The numbers of a file without any names, if it has as many rows as columns; else None."""
    if not table.may_be_bare or "" in map(str.strip, table.header.cells):
        return None
    rows = pl.concat([part.frame for part in table.cells(has_header=False, rows=1 << 16)])
    numbers = rows.select(with_point(pl.all()).cast(pl.Float64, strict=False))
    is_square = len(rows) == rows.width > 3 and numbers.null_count().equals(rows.null_count())
    return numbers.to_numpy() if is_square else None


def _ranked(header: Header, roles: Mapping[str, Any]) -> dict[str, int] | None:
    """role -> column, where there is an anchor with a ranking in one cell, which is a statement."""
    if is_overlay(roles):
        roles = {**roles, **(header.find_all(anchor=["anchor"], rank=["ranking"]) or {})}
    if roles.keys() - set(OPTIONAL) != {"anchor", "rank"} or isinstance(roles["rank"], (list, tuple)):
        return None
    named = header.optional() | {role: at[0] for role, at in positions(header, roles).items()}
    return {role: at for role, at in named.items() if role != "statement"}


def _ids(header: Header, columns: Mapping[str, Any]) -> dict[int, str]:
    """Columns of roles: those that are given, and others that have the name of one."""
    if not is_overlay(columns):
        raise InputError(f"columns: got {', '.join(columns)}; expected ids such as participant only")
    given = {at[0]: role for role, at in positions(header, columns).items()}
    return {at: role for role, at in header.optional().items() if role not in columns} | given


def _by_objects(table: Table, roles: Sequence[str], columns: Mapping[str, Any], label: str = "") -> WideTable:
    """All columns but those of ids are objects; of a matrix, ``label`` is the first of them and names the row."""
    header, ids = table.header, _ids(table.header, columns)
    rest = [at for at in range(len(header)) if at not in ids]
    row = [rest.pop(0)] if label and rest else []
    about = {at: (header.cells[at],) for at in rest if header.cells[at].strip()}
    if len(about) < 3:
        raise ColumnsError(f"{table.name}: has {len(about)} columns for objects; expected three or more")
    names = [name.strip() for (name,) in about.values()]
    if twice := sorted({repr(name) for name in names if names.count(name) > 1}):
        raise FileError(f"{table.name}: several columns are called {listed(twice)}; rename all but one each")
    for at in row:
        _check_labels(table, at, dict(zip(about, names, strict=True)))
        ids[at] = label
    return WideTable(table, about, roles, ids, by_row=not label)


def _check_labels(table: Table, at: int, names: Mapping[int, str]) -> None:
    """Refuse a matrix whose rows are not called as its columns; in a triangle one object may be no column, and another no row."""
    cells = table.first_texts(SAMPLE_ROWS).select(f"c{i}" for i in (at, *names))
    cells = cells.select(pl.when(~is_nothing(pl.all())).then(pl.all()))
    said = cells.filter(~pl.all_horizontal(pl.exclude(f"c{at}").is_null()))
    labels = said.to_series().drop_nulls()
    first, *_, last = columns = list(names.values())
    others = [name for name in labels.unique(maintain_order=True) if name not in columns]
    ends = ((labels[-1:].to_list(), first), (labels[:1].to_list(), last))
    is_triangle = any(end == others and name not in labels for end, name in ends)
    if len(others) > is_triangle or NUMBER.fullmatch(table.header.cells[at].strip().replace(",", ".")):
        rows = listed(list(map(repr, others or labels.unique(maintain_order=True))), 3)
        expected = f"expected the names of the objects, as in the first row, in {table.header.describe(at)!r}"
        raise FileError(f"{table.name}: rows are called {rows}; {expected}")


def _survey(table: Table, wide: str, columns: Mapping[str, Any], value: str) -> WideTable:
    """Questions by a pattern of their texts, or by a key file; the columns are then those of a list of ``nearfar plan``.

    Where cells are a ``value``, a similarity say, they are those of ratings or of rankings.
    """
    about, options, anchored = _by_pattern(table, wide) if "{" in wide else _by_key(table, wide)
    if anchored and "{" in wide and has(LESS, words(wide)):
        contrary = "seems to ask for the less similar option, but cells are read as the more similar one"
        warn(f"{table.name}: {wide!r} {contrary}")
    if value and options == 2 - anchored:
        roles: tuple[str, ...] = (*(("anchor", "object") if anchored else ("object_1", "object_2")), value)
    elif anchored and options == 2:
        roles = ("anchor", "one", "other", "choice")
    elif anchored:
        roles = ("anchor", *(f"option_{i}" for i in range(1, options + 1)), "choice")
    elif options == 3:
        roles, about = ("kind", "a", "b", "c", "choice"), {at: ("odd", *names) for at, names in about.items()}
    else:
        way = "an anchor and options, three options, or with --column similarity=rating two"
        raise InputError(f"wide: {wide!r} has {options} options; expected {way}")
    taken, ids = {plain(role) for role in roles}, _ids(table.header, columns)
    others = dict(enumerate(table.header.cells)) | ids
    objects = {name.strip() for own in about.values() for name in own}
    cells = table.first_texts(SAMPLE_ROWS)
    for column in (cells[f"c{at}"] for at in others if at not in about and at not in ids):
        said = set(column.drop_nulls())
        if said and 2 * len(said & objects) >= len(said):
            left = f"{table.header.describe(int(column.name[1:]))!r} holds names of objects too"
            warn(f"{table.name}: {left}, but is no question of {wide!r}; left out")
    kept = {at: name for at, name in others.items() if at not in about and plain(name) not in taken}
    return WideTable(table, about, roles, kept, by_row=True)


def _by_pattern(table: Table, pattern: str) -> tuple[Questions, int, bool]:
    """(column -> anchor and options, how many options, whether there is an anchor) by the header, or by the row below it."""
    places = re.findall(r"\{(\w+)\}", pattern)
    if not set(places) <= {"anchor", "option"} or places.count("anchor") > 1:
        raise InputError(f"wide: {pattern!r} holds other places than {{anchor}} once and {{option}}")
    if re.search(r"\}\s*\*|\*\s*\{", pattern):
        raise InputError(f"wide: {pattern!r} does not tell where a name ends; write text between it and *")
    texts = (" ".join(text.split()) for text in re.split(r"\{\w+\}", pattern))
    parts = [re.escape(text).replace(r"\ ", r"\s+").replace(r"\*", ".*") for text in texts]
    wanted = re.compile(r"\s*" + r"\s*(.+?)\s*".join(parts) + r"\s*", re.IGNORECASE)
    order = sorted(range(len(places)), key=lambda place: places[place] != "anchor")
    for cells in (
        table.header.cells,
        *table.first_texts(1).rows(),
    ):  # Qualtrics has the texts below the header
        found = {at: wanted.fullmatch(str(text or "")) for at, text in enumerate(cells)}
        about = {at: tuple(match[1 + place] for place in order) for at, match in found.items() if match}
        if about:
            return about, places.count("option"), "anchor" in places
    raise ColumnsError(f"{table.name}: no column is called like {pattern!r}")


def _by_key(table: Table, path: str) -> tuple[Questions, int, bool]:
    """The same from a table with the columns question, anchor, and option_1, option_2 and so on."""
    names = [f"option_{i}" for i in range(1, MOST_OPTIONS + 1)]
    columns = read_columns(path, ("question", "option_1", "option_2"), ("anchor", *names[2:]))
    roles = [role for role in ("anchor", *names) if any(columns[role])]
    header = {name.strip(): at for at, name in enumerate(table.header.cells)}
    questions = [str(question or "").strip() for question in columns["question"]]
    if missing := [question for question in questions if question not in header]:
        raise ColumnsError(f"{table.name}: has no column {listed(missing)}, which {path} lists")
    rows = zip(*(columns[role] for role in roles), strict=True)
    about = {header[question]: tuple(map(str, row)) for question, row in zip(questions, rows, strict=True)}
    return about, len(roles) - ("anchor" in roles), "anchor" in roles
