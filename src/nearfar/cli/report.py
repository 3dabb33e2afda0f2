"""``nearfar report``: from answers to one page that can be mailed."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nearfar.cli._common import (
    AnswersArgument,
    ColumnOption,
    DialectOption,
    ExcludeOption,
    ObjectsOption,
    OnBad,
    OnBadOption,
    QuietOption,
    SeedOption,
    load,
    readable,
    session,
    tell,
)
from nearfar.cli._groups import DesignOption, GroupsOption, read_groups, with_group_column
from nearfar.cli._methods import ImagesOption, write_bytes
from nearfar.cli._model import ModelOption
from nearfar.errors import NearfarWarning

if TYPE_CHECKING:
    from nearfar.report.make import Report

__all__ = ["report"]

BundleOption = Annotated[
    Path | None,
    typer.Option(
        "--bundle",
        metavar="DIR",
        help="Also write every figure as SVG and PDF, every table as CSV, K and the space as NPZ, and a notebook with "
        "the answers it reads.",
        show_default=False,
    ),
]
ShowParticipantsOption = Annotated[
    bool, typer.Option("--show-participants", help="Show participants by name instead of by pseudonym.")
]
KeyOption = Annotated[
    Path | None,
    typer.Option(
        "--key",
        metavar="FILE",
        help="Key of the pseudonyms, one line of text.  Default: the file beside the page that ends in .key, made the "
        "first time: with it the same person keeps the same pseudonym.",
        show_default=False,
    ),
]


def report(
    answers: AnswersArgument,
    model: ModelOption = "auto",
    images: ImagesOption = None,
    objects: ObjectsOption = None,
    exclude: ExcludeOption = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The page to write; - for standard output.")
    ] = Path("report.html"),
    bundle: BundleOption = None,
    json: Annotated[
        Path | None,
        typer.Option(
            "--json",
            metavar="FILE",
            help="Also write every fact of the page as JSON; - for standard output.",
            show_default=False,
        ),
    ] = None,
    title: Annotated[
        str, typer.Option("--title", help="Heading of the page.", callback=readable, show_default=False)
    ] = "",
    clusters: Annotated[
        int | None,
        typer.Option(
            "--clusters", "-k", min=2, help="Cut the tree into so many.  Default: chosen.", show_default=False
        ),
    ] = None,
    show_participants: ShowParticipantsOption = False,
    groups: GroupsOption = None,
    design: DesignOption = None,
    key: KeyOption = None,
    seed: SeedOption = 0,
    dialect: DialectOption = None,
    column: ColumnOption = None,
    on_bad: OnBadOption = OnBad.error,
    quiet: QuietOption = False,
) -> None:
    """Make one HTML page from answers: verdict, map, tree, clusters, data quality, learning curve, methods.

    The page holds everything it shows and opens offline. Participants appear under pseudonyms, and nobody is left
    out unless listed, by name or pseudonym, in a file for --exclude.

    Example:  nearfar report answers.csv --images pictures -o report.html
    """
    with session(quiet):
        _check_targets(output, bundle, json)
        from dataclasses import replace

        from nearfar.report.make import make_report
        from nearfar.report.pseudonyms import keep_key

        secret = None if show_participants else _secret(key, output)
        loaded = load(
            answers,
            dialect=dialect,
            column=with_group_column(column, groups),
            objects=objects,
            on_bad=on_bad,
            exclude=exclude,
            key=secret,
        )
        made = make_report(
            replace(loaded.result, triplets=loaded.triplets),
            model=model,
            design=design,
            objects=objects,
            images=images,
            title=title,
            n_clusters=clusters,
            show_participants=show_participants,
            groups=read_groups(groups, loaded.result.groups),
            key=secret,
            seed=seed,
            files=[file for file in answers if file != "-"],
            excluded=loaded.excluded,
        )
        if made.facts.groups is not None and made.facts.groups.reason:
            warnings.warn(
                "groups are not compared: that takes two groups of at least three people each, and answers to "
                "enough different questions",
                NearfarWarning,
                stacklevel=2,
            )
        written = _write(made, output, json, bundle)
        if secret is not None and key is None and made.people:
            keep_key(output, secret)
    for path in written:
        tell(f"wrote {path}", quiet=quiet)
    tell_people(made, quiet=quiet)


def _secret(key: Path | None, output: Path) -> str | None:
    """The key of the pseudonyms: given, or beside the page; a page on standard output has nothing beside it."""
    from nearfar.report.pseudonyms import key_beside, read_key

    if key is not None:
        return read_key(key)
    return None if _is_standard(output) else key_beside(output)


def _write(made: Report, output: Path, json: Path | None, bundle: Path | None) -> list[Path]:
    """The files that were written; what went to standard output is not among them."""
    written = []
    if _is_standard(output):
        write_bytes("-", made.html().encode())
    else:
        written.append(made.write(output))
    if json is not None and _is_standard(json):
        write_bytes("-", made.facts.to_json().encode())
    elif json is not None:
        written.append(made.write_json(json))
    if bundle is not None:
        written.append(made.write_bundle(bundle))
    return written


def _is_standard(path: Path) -> bool:
    return str(path) == "-"


def tell_people(made: Report, *, quiet: bool) -> None:
    """Whom to look at, by name: here only the person at the terminal reads it."""
    real = {shown: name for name, shown in made.people.items()}
    for person in made.facts.quality.participants or ():
        if person.reasons:
            who = real[person.name]
            name = person.name if who == person.name else f"{person.name} ({who})"
            tell(f"review {name}: {'; '.join(person.reasons)}".replace("\xa0", " "), quiet=quiet)


def _check_targets(output: Path, bundle: Path | None, json: Path | None) -> None:
    """Whether the results can be written, before minutes are spent on them."""
    from nearfar.errors import FileError, InputError

    if json is not None and _is_standard(output) and _is_standard(json):
        raise InputError("--output and --json: both are standard output; name a file for one of them")
    for path in (output, json):
        if path is None or _is_standard(path):
            continue
        if not Path(os.path.realpath(path)).parent.is_dir():
            raise FileError(
                f"{path}: cannot be written, there is no directory {str(path.parent)!r}; make it first",
            )
        if path.is_dir():
            raise FileError(
                f"{path}: cannot be written, it is a directory; give the name of a file",
            )
    if bundle is not None and bundle.exists() and not bundle.is_dir():
        raise FileError(
            f"{bundle}: cannot be written, it is a file; give the name of a folder",
        )
