"""Tables with a column per question, or per object: seen as one row per cell, whatever the format."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np
import polars as pl

from nearfar._tools.text import listed
from nearfar.errors import ColumnsError, InputError
from nearfar.io.dialects.mapped import is_overlay, positions
from nearfar.io.objects import read_columns
from nearfar.io.parse_rows import as_text
from nearfar.io.table import Cells, Coded, Header, Table, plain

MATRICES = {"similaritymatrix": "similarity", "distancematrix": "distance"}
MOST_OPTIONS = 30  # that are looked for in a key
Columns = Mapping[str, Any] | None
Questions = Mapping[int, tuple[str, ...]]  # column -> what it is about


class WideTable(Table):
    """A row for each cell of some columns of ``inner``, beside the other columns.

    Parameters
    ----------
    inner : the table.
    about : column -> the texts that all of its cells get, under the names of ``roles``.
    roles : their names, and last that of the cell itself.
    kept : the other columns and their names.
    by_row : whether a row is a participant, where none of these columns is.
    """

    typed = False

    def __init__(
        self, inner: Table, about: Questions, roles: Sequence[str], kept: Mapping[int, str], *, by_row: bool
    ) -> None:
        self._inner, self._about, self._kept = inner, about, list(kept)
        self._by_row = by_row and "participant" not in kept.values()
        names = [*kept.values(), *["participant"] * self._by_row, *roles]
        super().__init__(inner.source, Header(inner.name, names))
        self.row_word, self.guarded, self.decimal_comma = inner.row_word, inner.guarded, inner.decimal_comma

    def cells(self, has_header: bool, rows: int, coded: Coded | None = None) -> Iterator[Cells]:
        """Column after column of some rows."""
        for at in (used := [*self._kept, *self._about]):
            self._inner.need_values(at)
        texts = [as_text(pl.col(f"c{at}"), self._inner.schema[f"c{at}"]) for at in used]
        first = [f"c{at}" for at in self._kept] + ["line"] * self._by_row
        width, about = len(self._about), zip(*self._about.values(), strict=True)
        named = [pl.Series(column, dtype=pl.String) for column in about]
        for part in self._inner.cells(True, rows):
            frame = part.frame.select(texts)
            frame = frame.with_columns(line=part.lines_of(pl.int_range(len(frame), eager=True)))
            blank = frame.select(pl.all_horizontal(pl.exclude("line").is_null())).to_series()
            frame = frame.filter(~blank)
            column = pl.Series(np.repeat(np.arange(width), len(frame)))
            long = [
                *(pl.concat([frame[name].cast(pl.String)] * width) for name in first),
                *(texts.gather(column) for texts in named),
                pl.concat([frame[f"c{at}"] for at in self._about]),
            ]
            sound = part.records - len(part.faults) - int(blank.sum())  # which the parser must have found too
            lines, records = pl.concat([frame["line"]] * width), sound * width + len(part.faults)
            cells = pl.DataFrame(dict(zip(self.schema, long, strict=True)))
            yield Cells(cells, records, part.first, lines, part.faults)


def reshaped(table: Table, wide: str | None, dialect: str | None, columns: Columns) -> tuple[Table, Columns]:
    """The table and its roles as they are, or with a row per cell where questions or objects are columns.

    That is so where ``wide`` or the dialect says it. The other columns of roles are then called by them.
    """
    name, roles = plain(dialect or ""), dict(columns or {})
    if wide is not None:
        made = _survey(table, wide, roles)
    elif name in MATRICES:
        made = _by_objects(table, ("object_2", MATRICES[name]), roles, label="object_1")
    elif name == "pilesort" and table.header.find("pile") is None and "pile" not in roles:
        made = _by_objects(table, ("object", "pile"), roles)
    else:
        return table, columns
    return made, {role: role for role in roles}


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
    if label and rest:
        ids[rest.pop(0)] = label
    about = {at: (header.cells[at],) for at in rest if header.cells[at].strip()}
    if len(about) < 3:
        raise ColumnsError(f"{table.name}: has {len(about)} columns for objects; expected three or more")
    return WideTable(table, about, roles, ids, by_row=not label)


def _survey(table: Table, wide: str, columns: Mapping[str, Any]) -> WideTable:
    """Questions by a pattern of their texts, or by a key file; the columns are then those of a list of ``nearfar plan``."""
    about, options, anchored = _by_pattern(table, wide) if "{" in wide else _by_key(table, wide)
    if anchored and options == 2:
        roles: tuple[str, ...] = ("anchor", "one", "other", "choice")
    elif anchored:
        roles = ("anchor", *(f"option_{i}" for i in range(1, options + 1)), "choice")
    elif options == 3:
        roles, about = ("kind", "a", "b", "c", "choice"), {at: ("odd", *names) for at, names in about.items()}
    else:
        raise InputError(f"wide: {wide!r} has {options} options; expected an anchor, or three options")
    taken = {plain(role) for role in roles}
    others = dict(enumerate(table.header.cells)) | _ids(table.header, columns)
    kept = {at: name for at, name in others.items() if at not in about and plain(name) not in taken}
    return WideTable(table, about, roles, kept, by_row=True)


def _by_pattern(table: Table, pattern: str) -> tuple[Questions, int, bool]:
    """(column -> anchor and options, how many options, whether there is an anchor) by the header, or by the row below it."""
    places = re.findall(r"\{(\w+)\}", pattern)
    if not set(places) <= {"anchor", "option"} or places.count("anchor") > 1:
        raise InputError(f"wide: {pattern!r} holds other places than {{anchor}} once and {{option}}")
    texts = (" ".join(text.split()) for text in re.split(r"\{\w+\}", pattern))
    parts = [re.escape(text).replace(r"\ ", r"\s+") for text in texts]
    wanted = re.compile(r"\s*" + r"\s*(.+?)\s*".join(parts) + r"\s*", re.IGNORECASE)
    below = [part.frame[:1].rows() for part in islice(table.cells(has_header=True, rows=1), 1)]
    order = sorted(range(len(places)), key=lambda place: places[place] != "anchor")
    for cells in (table.header.cells, *chain(*below)):  # Qualtrics has the texts below the header
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
