"""``nearfar demo``: a report about simulated answers on a hundred colours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from nearfar.cli._options import Given, takes
from nearfar.errors import InputError

TITLE = "Similarity of 100 colours (simulated answers)"


@takes("seed", "quiet")
def demo(
    given: Given,
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Where to put the data and the page; made if need be.")
    ] = Path("demo"),
) -> None:
    """Make a report from simulated answers about a hundred colours.

    Twenty simulated participants answer "Is A nearer to B or to C?"; the report knows nothing else. The last lines
    compare what it found with the truth.

    Example:  nearfar demo
    """
    from nearfar._tools.atomic import make_folder
    from nearfar.datasets import make_colours
    from nearfar.io import read_answers
    from nearfar.report.make import make_report

    colours = make_colours(given.seed)
    file, listed = folder / "answers.csv", folder / "objects.csv"
    own = folder / "images" / f"{colours.triplets.objects[0]}.png"
    if (file.exists() or listed.exists()) and not own.exists():
        raise InputError(f"{folder}: holds answers or objects that are not the demo's; name another folder")
    make_folder(folder)
    colours.write(folder)
    options: Any = {"title": TITLE, "show_participants": True, "seed": given.seed, "files": [file]}
    made = make_report(read_answers(file, objects=listed), objects=listed, **options)
    page = made.write(folder / "report.html")
    best, possible = made.analysis.best, made.analysis.ceiling.best_possible
    low, high = (0.5, 1.0) if possible is None else (possible.low, possible.high)
    review = [person["name"] for person in made.data["participants"]["rows"] if person["reason"]]
    truth = colours.truth
    given.tell(f"wrote {file}, {listed} and {folder / 'images'}")
    given.tell(f"wrote {page}: open it in a browser")
    true = f"true {truth.ceiling(colours.triplets):.3f}"
    given.tell(f"noise ceiling {low:.2f} to {high:.2f} ({true}); accuracy {best.accuracy:.3f} by {best.name}")
    careless = ", ".join(truth.careless)
    given.tell(f"participants to check: {', '.join(review) or 'none'} (simulated as careless: {careless})")
