"""What commands read: answers without those of excluded participants, lists of names, groups of participants."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearfar._tools.pseudonyms import read_key
from nearfar._tools.text import count, read_lines
from nearfar.cli._options import Given
from nearfar.errors import FileError, InputError, NearfarWarning

if TYPE_CHECKING:
    from nearfar.io import ObjectList, ReadResult
    from nearfar.io.vectors import VectorTable
    from nearfar.triplets import Triplets


@dataclass(frozen=True)
class Loaded:
    """Answers as a command got them.

    Attributes
    ----------
    triplets : the answers, without those of excluded participants.
    result : everything the reader found, before exclusion.
    objects : the object list, where one was given.
    excluded : participant -> how many of their answers were left out.
    """

    triplets: Triplets
    result: ReadResult
    objects: ObjectList | None
    excluded: dict[str, int]

    def listed(self, column: str) -> dict[str, Any]:
        """Object -> what a column of the object list says; nothing without a list."""
        listing = self.objects
        return {} if listing is None else dict(zip(listing.names, getattr(listing, column), strict=True))

    @property
    def display_names(self) -> tuple[str, ...]:
        """What to call the objects in pictures."""
        shown = self.listed("display_names")
        return tuple(shown.get(name, name) for name in self.triplets.objects)


def load(given: Given, *, key: str | None = None, announce: bool = True) -> Loaded:
    """Read and join the answers of a command, and leave out whom ``exclude`` lists; ``key`` : that of a page.

    Rows that were dropped are counted in a warning, unless the command tells of them itself (``announce=False``).
    """
    from nearfar.io import read_answers, read_objects

    answers = given.answers
    object_list = None if given.objects is None else read_objects(given.objects)
    if any(name.endswith(".db") for name in answers):
        from nearfar.ask.answers import read_databases

        result = read_databases(answers)
    else:
        same = {name: getattr(given, name) for name in ("dialect", "on_bad", "wide", "sheet", "join_names")}
        columns, where = named_columns(_with_group_column(given)), given.where or ()
        result = read_answers(list(answers), columns=columns, objects=object_list, where=where, **same)
    if announce and len(result.rejected):
        n, first = len(result.rejected), result.rejected.row(0, named=True)
        dropped = f"dropped {count(n, 'row that is no valid answer', 'rows that are not valid answers')}"
        listing = f"the first in line {first['line']}; nearfar check lists them"
        warnings.warn(f"{first['file']}: {dropped}, {listing}", NearfarWarning, stacklevel=2)
    triplets, excluded = result.triplets, dict[str, int]()
    if given.exclude is not None:
        names = _people(given.exclude, triplets, key if given.key is None else read_key(given.key))
        triplets, excluded = _leave_out(triplets, names, given.exclude)
    return Loaded(triplets, result, object_list, excluded)


def named_columns(given: Sequence[str] | None) -> dict[str, Any] | None:
    """role -> its column, or its columns, from options such as ``anchor=Question``.

    >>> named_columns(["anchor=Q", "option=L", "option=R", "choice=a=b"])
    {'anchor': 'Q', 'option': ['L', 'R'], 'choice': 'a=b'}
    """
    if not given:
        return None
    columns: dict[str, list[str]] = {}
    for each in given:
        role, mark, name = each.partition("=")
        if not mark or not name:
            raise InputError(f"--column {each}: expected ROLE=NAME, for example --column anchor=Question")
        columns.setdefault(role.strip().replace("-", "_"), []).append(name)
    return {role: names[0] if len(names) == 1 else names for role, names in columns.items()}


def load_features(given: Given) -> list[VectorTable] | None:
    """The vectors per object that ``--features`` names; None where it is not given."""
    from nearfar.io.vectors import read_named_vectors

    return read_named_vectors(given.features) if given.features else None


def _people(path: Path, triplets: Triplets, key: str | None) -> list[str]:
    """Names of the listed participants; pseudonyms are looked up with the key given and with those that lie near."""
    from nearfar._tools.pseudonyms import real_names

    names = [] if triplets.participant is None else [str(name) for name in triplets.participant.names]
    listed = real_names(read_lines(path, "participant"), names, key)
    for near in sorted({*path.parent.glob("*.key"), *Path().glob("*.key")}):
        if not set(listed) <= set(names):
            with suppress(FileError):  # a key of another kind
                listed = real_names(listed, names, read_key(near))
    return listed


def _leave_out(triplets: Triplets, people: Sequence[str], where: Path) -> tuple[Triplets, dict[str, int]]:
    """The answers of everybody else, and how many each participant left out had given."""
    import numpy as np

    if triplets.participant is None:
        unknown = "the answers do not say who gave them, so nobody can be left out"
        raise FileError(f"{where}: {unknown}; add a column participant to the answers")
    known = {str(name): code for code, name in enumerate(triplets.participant.names.tolist())}
    counts = np.bincount(triplets.participant.codes, minlength=len(known))
    excluded = {name: int(counts[known[name]]) if name in known else 0 for name in people}
    strangers = [name for name, count in excluded.items() if not count]
    if strangers:
        shown = ", ".join(map(repr, strangers[:5])) + (" and others" if len(strangers) > 5 else "")
        told = f"{len(strangers)} of {len(excluded)} listed participants gave no answer ({shown})"
        way = "check the spelling, or give the key of pseudonyms with --key"
        warnings.warn(f"{where}: {told}; {way}", NearfarWarning, stacklevel=2)
    out = [known[name] for name in excluded if name in known]
    return triplets[~np.isin(triplets.participant.codes, out)], excluded


def _with_group_column(given: Given) -> list[str]:
    """What to ask the reader for: the columns, with that of the groups where no file is meant."""
    named, groups = list(given.column or []), given.groups
    if groups is None or Path(groups).is_file() or f"group={groups}" in named:
        return named
    from nearfar.io.sources import format_of

    try:
        format_of(groups)
    except FileError:  # it does not end as the name of a table does
        return [*named, f"group={groups}"]
    expected = "a table with the columns participant and group, or the name of a column of the answers"
    raise FileError(f"{groups}: cannot be read, there is no such file; expected {expected}")


def read_groups(given: Given, loaded: Loaded) -> dict[str, str] | None:
    """Participant -> group: from the file, or as the reader found it in a column; None where there is neither."""
    if given.groups is None or not Path(given.groups).is_file():
        return dict(loaded.result.groups) or None
    from nearfar.io.objects import read_columns
    from nearfar.io.reading import groups_of

    columns = read_columns(given.groups, ("participant", "group"))
    if not any(group and group.strip() for group in columns["group"]):
        raise FileError(
            f"{given.groups}: the column 'group' is blank; expected the group of each participant"
        )
    return groups_of((person or "", group) for person, group in zip(*columns.values(), strict=True))
