"""``nearfar demo``: a report about simulated answers on a hundred colours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from nearfar.cli._options import Given, takes

TITLE = "Similarity of 100 colours (simulated answers)"


@takes("seed", "quiet")
def demo(
    given: Given,
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Where to put the data and the page; made if need be.")
    ] = Path("demo"),
) -> None:
    """Make a report from simulated answers about a hundred colours.

    Twenty simulated people answer. Nobody is told what a colour looks like: the page has only answers "A is nearer to B than to C". The truth behind
    them is known, and the last lines compare it with what the report found.

    Example:  nearfar demo
    """
    from nearfar._tools.atomic import make_folder
    from nearfar.datasets import make_colours
    from nearfar.io import read_answers
    from nearfar.report.make import make_report

    colours = make_colours(given.seed)
    make_folder(folder)
    colours.write(folder)
    file, listed = folder / "answers.csv", folder / "objects.csv"
    options: Any = {"title": TITLE, "show_participants": True, "seed": given.seed, "files": [file]}
    made = make_report(read_answers(file, objects=listed), objects=listed, **options)
    page = made.write(folder / "report.html")
    best = made.analysis.best
    possible = made.analysis.ceiling.best_possible
    low, high = (0.5, 1.0) if possible is None else (possible.low, possible.high)
    review = [person["name"] for person in made.data["participants"]["rows"] if person["reason"]]
    truth = colours.truth
    given.tell(f"wrote {file}, {listed} and {folder / 'images'}")
    given.tell(f"wrote {page}: open it in a browser")
    real = f"in truth {truth.ceiling(colours.triplets):.3f}; reached {best.accuracy:.3f} by {best.name}"
    given.tell(f"best possible accuracy: found between {low:.3f} and {high:.3f}, {real}")
    found = ", ".join(review) or "nobody"
    given.tell(f"careless people: found {found}, in truth {', '.join(truth.careless)}")
