"""``nearfar map``: coordinates of the objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from nearfar.cli._options import METHOD, Given, takes
from nearfar.cli._prepared import Prepared, prepared
from nearfar.cli._writing import check_outputs, draws, write_all
from nearfar.errors import InputError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["map"]


@takes(*METHOD, "images", "dask", "scratch")
def map(
    given: Given,
    dimensions: int = typer.Option(2, "--dimensions", "-n", min=1, help="How many coordinates."),
    regularization: float | None = typer.Option(
        None,
        min=0,
        help="Of an embedding: pull to the centre; 0 for none. Default: what did best on crowds' answers.",
    ),
    starts: int = typer.Option(
        0, min=0, help="Of an embedding: try so many random starts; 0 for one start made from the answers."
    ),
    max_iter: int = typer.Option(1000, min=1, help="Of an embedding: iterations, at most."),
) -> None:
    """Put the objects on a map: alike ones lie close together.

    By default the model is chosen that predicts held-out answers best with so many dimensions. A kernel (--model
    score) is mapped by kernel PCA; an embedding (--model soe, with -n dimensions) gives its points; of an embedding
    in more dimensions (--model soe-8) the first principal axes are shown.

    A table has a row per object: its coordinates x1, x2, ... and whether any answer concerns it. A picture shows
    names, or pictures of the objects (--images, or column image of the object list), coloured by their group (column
    group).

    Example:  nearfar map answers.csv -o map.png -o map.csv
    """
    check_outputs(given.output)
    if draws(given.output) and dimensions < 2:
        raise InputError("a picture of the map needs two dimensions; give --dimensions 2")
    settings = _settings(regularization, starts, max_iter, given.seed)
    with prepared(given, dimensions=dimensions, settings=settings) as ready:
        points, arrays, note = ready.map(dimensions)
        given.tell(note)
        write_all(
            given,
            table=lambda: _table(ready, points, arrays["uninformed"]),
            arrays=lambda: {"points": points, "objects": ready.names, **arrays},
            picture=lambda: _picture(ready, points, arrays["uninformed"], given.title, note),
        )


def _settings(regularization: float | None, starts: int, max_iter: int, seed: int) -> dict[str, Any]:
    """What was asked of an embedding beyond its defaults."""
    settings: dict[str, Any] = {}
    if regularization is not None:
        settings["regularization"] = regularization
    if starts:
        settings |= {"init": "random", "n_init": starts, "random_state": seed}
    if max_iter != 1000:
        settings["max_iter"] = max_iter
    return settings


def _table(ready: Prepared, points: Any, uninformed: Any) -> pl.DataFrame:
    import polars as pl

    columns = ready.columns()
    columns |= {f"x{d + 1}": points[:, d] for d in range(points.shape[1])}
    columns["informed"] = ready.informed(uninformed)
    return pl.DataFrame(columns)


def _picture(ready: Prepared, points: Any, uninformed: Any, title: str, note: str) -> Any:
    from nearfar.report.figures import map_figure

    return map_figure(
        points[:, :2],
        ready.display_names,
        groups=ready.groups,
        images=ready.images,
        uninformed=uninformed,
        title=title,
        note=note,
    )
