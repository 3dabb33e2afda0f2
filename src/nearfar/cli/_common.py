"""What the commands share: option types, reading answers, progress and warnings on stderr, output."""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from nearfar._tools.terminal import printable, write_out
from nearfar.errors import FileError, InputError, NearfarWarning

if TYPE_CHECKING:
    from nearfar.io import ObjectList, ReadResult
    from nearfar.triplets import Triplets

__all__ = [
    "AnswersArgument",
    "ColumnOption",
    "DialectOption",
    "ExcludeOption",
    "Loaded",
    "ObjectsOption",
    "OnBad",
    "OnBadOption",
    "OutputOption",
    "QuietOption",
    "SeedOption",
    "load",
    "many",
    "named_columns",
    "read_lines",
    "readable",
    "session",
    "tell",
    "text_output",
]


class OnBad(StrEnum):
    """What to do with a row that is not an answer."""

    error = "error"
    drop = "drop"


AnswersArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="ANSWERS",
        help="Files of answers (.csv .tsv .jsonl .parquet .npz, also .gz or .zst), or - for standard input; "
        "several are joined.",
        show_default=False,
    ),
]
DialectOption = Annotated[
    str | None,
    typer.Option(
        "--dialect",
        "-d",
        metavar="NAME",
        help="What the columns mean: canonical, odd-one-out, most-central, salmon, tripletTools, next, things. "
        "Default: recognised by the header.",
        show_default=False,
    ),
]
ColumnOption = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="ROLE=NAME",
        help="What a column means, once per column: anchor, near, far, option (twice or more), choice, odd, central (each also "
        "as choice_from_0 and so on), participant, statement, seconds, milliseconds, check, group; NAME is its name or "
        "its number from 1.",
        show_default=False,
    ),
]
ObjectsOption = Annotated[
    Path | None,
    typer.Option(
        "--objects",
        metavar="FILE",
        help="Object list: column object, optional display_name, image, group.",
        show_default=False,
    ),
]
OnBadOption = Annotated[
    OnBad,
    typer.Option("--on-bad", help="A row that is not an answer: stop with an error, or drop it and count."),
]
ExcludeOption = Annotated[
    Path | None,
    typer.Option(
        "--exclude",
        metavar="FILE",
        help="Participants to leave out, one per line, by name or by the pseudonym of a report whose key (a file that ends "
        "in .key) lies beside this file or here.",
        show_default=False,
    ),
]
OutputOption = Annotated[
    str, typer.Option("--output", "-o", metavar="FILE", help="Where to write; - for standard output.")
]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress and no remarks; warnings still show.")
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Fixes everything random.")]


def readable(title: str) -> str:
    """A heading without what no font and no page can show; bytes that are not UTF-8 stand as escapes."""
    return printable(title)


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


def load(
    answers: Sequence[str],
    *,
    dialect: str | None = None,
    column: Sequence[str] | None = None,
    objects: Path | None = None,
    on_bad: str = "error",
    exclude: Path | None = None,
    key: str | None = None,
    announce: bool = True,
) -> Loaded:
    """Read and join the answers of a command, and leave out whom ``exclude`` lists.

    Rows that were dropped are counted in a warning, unless the command tells of them itself (``announce=False``).
    """
    from nearfar.io import read_answers, read_objects

    object_list = None if objects is None else read_objects(objects)
    sources: Any = answers[0] if len(answers) == 1 else list(answers)
    if any(str(name).endswith(".db") for name in answers):
        from nearfar.ask.answers import read_databases

        result = read_databases(answers)
    else:
        result = read_answers(
            sources,
            dialect=dialect,
            columns=named_columns(column),
            objects=object_list,
            on_bad=OnBad(on_bad).value,
        )
    if announce and len(result.rejected):
        dropped = many(len(result.rejected), "row")
        warnings.warn(
            f"{result.rejected['file'][0]}: {dropped} dropped as no answer, the first in line "
            f"{result.rejected['line'][0]}; nearfar check lists them",
            NearfarWarning,
            stacklevel=2,
        )
    triplets, excluded = result.triplets, dict[str, int]()
    if exclude is not None:
        triplets, excluded = leave_out(triplets, _people(exclude, triplets, key), where=str(exclude))
    return Loaded(triplets, result, object_list, excluded)


def named_columns(given: Sequence[str] | None) -> dict[str, Any] | None:
    """role -> its column, or its columns, from options such as ``anchor=Question``.

    >>> named_columns(["anchor=Q", "option=L", "option=R", "choice=a=b"])
    {'anchor': 'Q', 'option': ['L', 'R'], 'choice': 'a=b'}
    """
    if not given:
        return None
    found: dict[str, list[str]] = {}
    for each in given:
        role, mark, name = each.partition("=")
        if not mark or not name:
            raise InputError(f"--column {each}: expected ROLE=NAME, for example --column anchor=Question")
        found.setdefault(role.strip().replace("-", "_"), []).append(name)
    return {role: names[0] if len(names) == 1 else names for role, names in found.items()}


def _people(path: Path, triplets: Triplets, key: str | None) -> list[str]:
    """Names of the listed participants; pseudonyms are looked up with the key given, or with those that lie near."""
    from nearfar._tools.pseudonyms import read_key, real_names

    names = [] if triplets.participant is None else [str(name) for name in triplets.participant.names]
    listed = read_lines(path, "participant")
    if key is not None:
        return real_names(listed, names, key)
    if set(listed) <= set(names):
        return listed
    for near in sorted({*path.parent.glob("*.key"), *Path().glob("*.key")}):
        with suppress(FileError):  # a key of another kind
            listed = real_names(listed, names, read_key(near))
    return listed


def leave_out(
    triplets: Triplets, participants: Sequence[str], *, where: str
) -> tuple[Triplets, dict[str, int]]:
    """The answers of everybody else, and how many each participant left out had given."""
    import numpy as np

    if triplets.participant is None:
        raise FileError(
            f"{where}: the answers do not say who gave them, so nobody can be left out; "
            "add a column participant to the answers",
        )
    known = {str(name): code for code, name in enumerate(triplets.participant.names.tolist())}
    counts = np.bincount(triplets.participant.codes, minlength=len(known))
    excluded = {name: int(counts[known[name]]) if name in known else 0 for name in participants}
    strangers = [name for name, count in excluded.items() if not count]
    if strangers:
        shown = ", ".join(map(repr, strangers[:5])) + (" and others" if len(strangers) > 5 else "")
        warnings.warn(
            f"{where}: {len(strangers)} of {len(excluded)} listed participants gave no answer ({shown}); "
            "check the spelling",
            NearfarWarning,
            stacklevel=2,
        )
    out = [known[name] for name in excluded if name in known]
    return triplets[~np.isin(triplets.participant.codes, out)], excluded


def read_lines(path: Path, what: str) -> list[str]:
    """The lines of a text file that are not blank, each one ``what``."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = (
            getattr(error, "strerror", None) or ""
        ).lower() or "it is not UTF-8 text (save it again as UTF-8)"
        raise FileError(
            f"{path}: cannot be read, {reason}; expected a text file with one {what} per line",
        ) from error
    return [line.strip() for line in text.splitlines() if line.strip()]


# -------------------------------------------------------------------- stderr: progress, warnings, remarks


@contextmanager
def session(quiet: bool = False) -> Iterator[None]:
    """Around the body of a command: progress is drawn and nearfar's warnings are one line each, on stderr."""
    from nearfar._tools.progress import show as draw

    with warnings.catch_warnings():
        warnings.simplefilter("always", NearfarWarning)
        seen: set[str] = set()
        elsewhere = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if not issubclass(category, NearfarWarning):
                elsewhere(message, category, *where, **more)
            elif str(message) not in seen:
                seen.add(str(message))
                _say(f"nearfar: warning: {message}")

        warnings.showwarning = show
        if quiet or not sys.stderr.isatty():
            yield
            return
        with draw():
            yield


def many(number: int, thing: str) -> str:
    """A number of things.

    >>> many(1, "row"), many(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def tell(text: str, *, quiet: bool = False) -> None:
    """A remark on stderr, e.g. what was written; not with ``--quiet``."""
    if not quiet:
        _say(text)


def _say(text: str) -> None:
    sys.stderr.write(f"{printable(text)}\n")


# -------------------------------------------------------------------- output


@contextmanager
def text_output(path: str | Path) -> Iterator[TextIO]:
    """A text stream to write to: standard output for ``-``, else a file that appears whole or not at all."""
    if str(path) == "-":
        written = io.StringIO()
        yield written
        write_out(written.getvalue())
        return
    from nearfar._tools.atomic import atomic_path

    with atomic_path(path) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as stream:
        yield stream
