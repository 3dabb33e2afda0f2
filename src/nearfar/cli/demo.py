"""``nearfar demo``: a colour wheel that nobody drew."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nearfar.cli._common import QuietOption, SeedOption, session, tell

__all__ = ["demo"]

TITLE = "A colour wheel that nobody drew"


def demo(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Where to put the data and the page; made if need be.")
    ] = Path("demo"),
    seed: SeedOption = 0,
    quiet: QuietOption = False,
) -> None:
    """Make the answers of twenty simulated people about a hundred colours, and the report of them.

    Nobody is told what a colour looks like: the page has only answers "A is nearer to B than to C". The truth behind
    them is known, and the last lines compare it with what the report found.

    Example:  nearfar demo
    """
    with session(quiet):
        from nearfar.datasets import make_colours
        from nearfar.io import read_answers
        from nearfar.report.make import make_report

        colours = make_colours(seed)
        _make(folder)
        colours.write(folder)
        file, listed = folder / "answers.csv", folder / "objects.csv"
        made = make_report(
            read_answers(file, objects=listed),
            objects=listed,
            title=TITLE,
            show_participants=True,
            seed=seed,
            files=[file],
        )
        page = made.write(folder / "report.html")
    best = made.analysis.best
    possible = made.analysis.ceiling.best_possible
    low, high = (0.5, 1.0) if possible is None else (possible.low, possible.high)
    review = [person["name"] for person in made.data["participants"]["rows"] if person["reason"]]
    truth = colours.truth
    tell(f"wrote {file}, {listed} and {folder / 'images'}", quiet=quiet)
    tell(f"wrote {page}: open it in a browser", quiet=quiet)
    tell(
        f"best possible accuracy: found between {low:.3f} and {high:.3f}, in truth "
        f"{truth.ceiling(colours.triplets):.3f}; reached {best.accuracy:.3f} by {best.name}",
        quiet=quiet,
    )
    tell(
        f"careless people: found {', '.join(review) or 'nobody'}, in truth {', '.join(truth.careless)}",
        quiet=quiet,
    )


def _make(folder: Path) -> None:
    from nearfar.errors import FileError

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise FileError(
            f"{folder}: cannot be made, {reason}; name another folder",
        ) from error
