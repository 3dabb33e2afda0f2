"""The one reader: batches of rows of any source, every row accounted for."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nearfar._tools.limits import check_largest_index
from nearfar.errors import ColumnsError, FileError, InputError
from nearfar.io import parse_rows
from nearfar.io.dialects import Dialect, Grammar, choose, selecting
from nearfar.io.naming import EMPTY, WHOLE, Naming, Numbers, Statements, Vocabulary, plain_name, whole_numbers
from nearfar.io.objects import ObjectList, as_names, open_table
from nearfar.io.parse_rows import NONE_ASIDE, NONE_REJECTED, ROLES
from nearfar.io.proposal import proposal
from nearfar.io.sources import Source, find_sources
from nearfar.io.table import Cells, Coded, Table, lower_headers, warn
from nearfar.io.wide_table import reshaped
from nearfar.triplets.ids import order_names

GivenObjects = ObjectList | Sequence[str] | str | os.PathLike[str] | int
ColumnRoles = dict[str, Any]


class Batch(NamedTuple):
    """Some rows of a source: the triplets of its answers (objects as ids), and the rows that are not answers.

    ``rows`` is how many there are, blank ones apart.
    """

    triplets: pl.DataFrame
    rejected: pl.DataFrame
    set_aside: pl.DataFrame
    rows: int


@dataclass
class Opened:
    """A source that is being read: what it holds, and what was found in it so far."""

    table: Table
    dialect: Dialect
    grammar: Grammar
    naming: Naming
    statements: Statements
    numeric_people: bool  # whether every participant seen so far is a whole number
    used: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(1, bool))  # by id
    n_rows: int = 0
    n_answers: int = 0
    has_bad_times: bool = False
    undecided: set[int] = field(default_factory=set)  # which kinds of ``Grammar.undecided`` rows there were

    @property
    def has_statements(self) -> bool:
        """Whether an answer may belong to a statement with others."""
        return "statement" in self.grammar.columns or len(self.grammar.triplets) != 1

    def objects(self) -> tuple[str, ...]:
        """The objects of the source, once all its answers were seen."""
        naming = self.naming
        if (known := naming.own if naming.listed is None else naming.listed) is not None:
            return tuple(known)
        used = [name for name, is_used in zip(naming.index, self.used, strict=False) if is_used]
        if naming.first is None:
            return tuple(order_names(used))
        stop = max(map(int, used), default=naming.first - 1) + 1
        if (wrong := check_largest_index(max(stop - 1, 0), self.n_answers)) is not None:
            raise FileError(f"{self.table.name}: {wrong}")
        return tuple(map(str, range(naming.first, stop)))


class Reader:
    """Reads sources with one list of objects and one of participants; parameters are those of ``read_triplets``."""

    def __init__(
        self,
        source: Any,
        *,
        dialect: str | None = None,
        columns: ColumnRoles | None = None,
        objects: GivenObjects | None = None,
        on_bad: str = "error",
        wide: str | None = None,
        sheet: str | None = None,
        where: str | Sequence[str] = (),
        join_names: bool = False,
    ) -> None:
        if on_bad not in ("error", "drop"):
            raise InputError(f"on_bad must be 'error' or 'drop', got {on_bad!r}")
        if columns is not None and not isinstance(columns, Mapping):
            raise InputError(f"columns must be a dict of roles and their columns, got {columns!r}")
        self.drop = on_bad == "drop"
        self.listed = listed = as_names(objects)
        self.index: dict[str, int] | Numbers | None = None  # of all objects, where they are known
        if listed is not None:
            self.index = listed if isinstance(listed, Numbers) else {x: i for i, x in enumerate(listed)}
        self.people = Vocabulary()
        self.sources = find_sources(source)
        if not self.sources:
            raise InputError("answers: the list of files is empty; expected at least one")
        if sheet is not None:
            if not any(one.format == "xlsx" for one in self.sources):
                raise InputError(f"sheet: got {sheet!r}, but there is no workbook (.xlsx) among the files")
            self.sources = [replace(one, sheet=sheet) for one in self.sources]
        self._dialect, self._columns, self._wide = dialect, columns, wide
        self._where = [where] if isinstance(where, str) else list(where)
        self._given = [word for each in self._where for word in ("--where", each)]
        self._given += [*["--join-names"] * join_names, *(("--sheet", sheet) if sheet else ())]
        self._joined = {plain_name(name): name for name in self.listed or ()} if join_names else None

    def open(self, source: Source) -> Opened:
        """Look at the start of a source and find how to read it."""
        table, dialect, grammar = self._recognise(open_table(source))
        if self._where:
            grammar = selecting(grammar, table.header, self._where)
        for position in grammar.columns.values():
            table.need_values(position)
        numeric = all(table.schema[f"c{grammar.columns[role]}"].is_numeric() for role in grammar.objects)
        listed = self.listed if grammar.first_index is None else None
        if numeric and listed and not any(map(WHOLE.fullmatch, listed)):
            wrong = "holds numbers where the object list has names"
            raise FileError(f"{table.name}: {wrong}; for indices give an array")
        index = {"": EMPTY} if self.index is None else self.index
        first, guarded = grammar.first_index, table.guarded
        naming = Naming(self.listed, index, table.objects, first, numeric, guarded, self._joined)
        at = grammar.columns.get("statement")
        has_text = at is not None and not table.schema[f"c{at}"].is_numeric()
        statements = Statements(typed=table.typed and has_text, guarded=guarded)
        at = grammar.columns.get("participant")
        numeric_people = not table.typed or at is None or table.schema[f"c{at}"].is_numeric()
        return Opened(table, dialect, grammar, naming, statements, numeric_people)

    def _recognise(self, table: Table) -> tuple[Table, Dialect, Grammar]:
        """A table whose header is known, here or in a row further down, and how to read it."""
        try:
            return self._choose(table)
        except ColumnsError as error:
            for lower in lower_headers(table):
                with suppress(FileError):
                    found = self._choose(lower)
                    at = f"{table.row_word} {lower.header_row}"
                    warn(f"{table.name}: the header is in {at}; what stands above it was left out")
                    return found
            if self._dialect or self._wide or self._columns:
                raise
            raise proposal(table, error, self._given) from error

    def _choose(self, table: Table) -> tuple[Table, Dialect, Grammar]:
        table, columns = reshaped(table, self._wide, self._dialect, self._columns)
        return table, *choose(table, self._dialect, columns)

    def batches(self, opened: Opened, rows: int) -> Iterator[Batch]:
        """All rows of a source, at most ``rows`` at a time; what is found is noted in ``opened``."""
        empty = Cells(pl.DataFrame(schema=opened.table.schema), 0, 0)
        chunks = opened.table.cells(opened.grammar.has_header, rows, self._coded(opened))
        parts = (part for chunk in chain(chunks, [empty]) for part in chunk.cut(rows))
        beside = pairwise(chain(parts, [empty]))
        batches = (self._batch(opened, part, following.frame[:1]) for part, following in beside)
        if opened.grammar.gather is None:
            yield from batches
            return
        answers, rejected, aside, counts = zip(*batches, strict=True)
        gathered = opened.grammar.gather(pl.concat(answers, how="diagonal"), opened.table.name)
        self._note(opened, gathered)
        opened.n_answers = len(gathered)
        yield Batch(gathered, pl.concat(rejected), pl.concat(aside), sum(counts))

    def _coded(self, opened: Opened) -> Coded:
        """The columns that hold nothing but objects, or participants, as ``parse_columns`` numbers them."""
        grammar = opened.grammar
        if grammar.blanks:  # which are looked for in the text
            return {}
        words = dict.fromkeys(grammar.objects, opened.naming.vocabulary.dtype)
        words["participant"] = self.people.dtype
        times = Counter(grammar.columns.values())
        once = {role: at for role, at in grammar.columns.items() if times[at] == 1}
        return {f"c{at}": words[role] for role, at in once.items() if role in words}

    def _batch(self, opened: Opened, cells: Cells, following: pl.DataFrame) -> Batch:
        table, grammar = opened.table, opened.grammar
        indices = _sound_indices(opened, cells.frame)
        if indices is not None:
            opened.n_answers += len(indices)
            return Batch(indices, NONE_REJECTED, NONE_ASIDE, len(indices))
        words, comma = (opened.naming, self.people), table.decimal_comma
        columns = parse_rows.parse_columns(cells.frame, grammar, *words, decimal_comma=comma)
        if {"choice_1", "value"} & grammar.columns.keys():
            at = f"c{grammar.columns.get('choice_1', grammar.columns.get('value'))}"
            choices = pl.concat([frame[at].cast(pl.String) for frame in (cells.frame, following)])
            columns = columns.with_columns(next_choice=choices.shift(-1)[: len(columns)])
        found = {at for at, rows in enumerate(grammar.undecided) if columns.select(rows.any()).item()}
        opened.undecided |= found
        if len(opened.undecided) == 2:
            raise _undecided(opened)
        naming, blank = opened.naming, table.guarded
        judged = parse_rows.classify_rows(cells.frame, columns, grammar, naming, may_be_blank=blank)
        rejected, set_aside = parse_rows.rows_left_out(judged, cells, grammar, table)
        kept, n_blank = judged.kept, len(judged.with_fate(-1))
        accounted = len(kept) + len(rejected) + len(set_aside) + n_blank
        if accounted != cells.records:
            became = f"{cells.records:,} rows from {table.row_word} {cells.first} on became {accounted:,}"
            raise FileError(f"{table.name}: {became}; this is an error of nearfar, please report it")
        if grammar.gather is not None:  # once all rows are there
            return Batch(kept, rejected, set_aside, cells.records - n_blank)
        triplets = parse_rows.triplet_rows(kept, grammar, opened.n_rows)
        self._note(opened, triplets)
        if "bad_answered_at" in kept.columns and kept["bad_answered_at"].any() and not opened.has_bad_times:
            opened.has_bad_times = True
            at = f"c{grammar.columns['answered_at']}"
            wrong = f"times such as {cells.frame[at].filter(columns['bad_answered_at'])[0]!r} cannot be read"
            expected = "expected seconds since 1970 or a date like 2024-05-31 13:45:00"
            warn(f"{table.name}: {wrong}, so answered_at is unknown there; {expected}")
        opened.n_rows += len(kept)
        opened.n_answers += len(triplets)
        return Batch(triplets, rejected, set_aside, cells.records - n_blank)

    def _note(self, opened: Opened, triplets: pl.DataFrame) -> None:
        """Which objects, statements and people the answers are about."""
        if self.index is None:
            for role in ROLES:
                opened.used = _marked(opened.used, triplets[role], len(opened.naming.index))
        if "statement" in triplets.columns:
            opened.statements.see(triplets["statement"])
        if "participant" in triplets.columns and opened.numeric_people:
            people = triplets["participant"].unique().cast(pl.String)
            opened.numeric_people = not people.null_count() and whole_numbers(people) is not None


def _undecided(opened: Opened) -> FileError:
    """The error where choices may count from 0 or from 1, so that none can be trusted."""
    at = opened.grammar.columns["choice_1"]
    name = opened.table.header.describe(at) if opened.grammar.has_header else str(at + 1)
    wrong = f"a choice in column {name!r} is 0, so choices may count from 0 or from 1"
    way = f"say which with --column choice_from_0={name!r} or choice_from_1 (or choice_name; odd_from_0, central_from_0 for these)"
    return FileError(f"{opened.table.name}: {wrong}; {way}")


def _marked(used: NDArray[np.bool_], codes: pl.Series, count: int) -> NDArray[np.bool_]:
    """``used``, made longer where there are more than it has, with the codes that occur marked; code 0 is no name."""
    used = np.append(used, np.zeros(max(0, count - len(used)), bool))
    numbers, step = codes.to_numpy(), max(1 << 15, 4 * len(used))
    for start in range(0, len(numbers), step):
        if used[1:].all():
            break
        used |= np.bincount(numbers[start : start + step], minlength=len(used)) > 0
    return used


def _sound_indices(opened: Opened, frame: pl.DataFrame) -> pl.DataFrame | None:
    """Triplet rows without any look-up, where cells are the indices of three distinct listed objects; else None."""
    grammar, objects = opened.grammar, opened.naming.listed
    if not isinstance(objects, Numbers) or opened.naming.own or grammar.first_index:
        return None
    columns = {role: pl.col(f"c{at}") for role, at in grammar.columns.items()}
    if tuple(columns) != ROLES or not all(each.is_integer() for each in frame.select(**columns).dtypes):
        return None
    anchor, near, far = columns.values()
    sound = (anchor != near) & (near != far) & (anchor != far)
    for column in columns.values():
        sound &= column.is_between(0, len(objects) - 1)
    if not frame.select(sound.fill_null(False).all()).item():
        return None
    return frame.select(**columns).cast(pl.Int32)
