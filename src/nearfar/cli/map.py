"""``nearfar map``: coordinates of the objects."""

from __future__ import annotations

from typing import Any

from nearfar.cli._options import EMBEDDINGS, METHOD, Given, own, takes
from nearfar.cli._prepared import prepared
from nearfar.cli._writing import check_outputs, draws, write_all
from nearfar.errors import InputError


@takes(*METHOD, "images", "dask", "scratch")
def map(
    given: Given,
    dimensions: int = own(2, "How many coordinates.", "--dimensions", "-n", min=1),
    regularization: float | None = own(
        None, "Pull to the centre. Default: best on crowd data.", panel=EMBEDDINGS, min=0
    ),
    starts: int = own(0, "Random starts; 0: one start made from the answers.", panel=EMBEDDINGS, min=0),
    max_iter: int = own(1000, "Iterations, at most.", panel=EMBEDDINGS, min=1),
) -> None:
    """Put the objects on a map: similar ones are close together.

    By default the model with so many dimensions that predicts held-out answers best. Kernels (--model score) are mapped
    by kernel PCA, embeddings in more dimensions (--model soe-8) by principal axes.

    A table has a row per object: its coordinates x1, x2, ... and whether any answer concerns it. A picture shows
    names, or pictures (--images, or column image of the object list), coloured by group; of three dimensions
    every two. Caption: map.caption.txt.

    Example:  nearfar map answers.csv -o map.png -o map.csv
    """
    check_outputs(given)
    if draws(given.output) and dimensions < 2:
        raise InputError("a picture of the map needs two dimensions; give --dimensions 2")
    settings: dict[str, Any] = {} if regularization is None else {"regularization": regularization}
    if starts:
        settings |= {"init": "random", "n_init": starts, "random_state": given.seed}
    if max_iter != 1000:  # the default of embeddings
        settings["max_iter"] = max_iter
    with prepared(given, dimensions=dimensions, settings=settings) as ready:
        points, arrays, note = ready.map(dimensions)
        given.tell(note)
        if draws(given.output) and dimensions > 3:
            given.tell(f"the picture shows the first two of {dimensions} dimensions; the table has all")
        axes = {f"x{d}": x for d, x in enumerate(points.T, start=1)}
        write_all(
            given,
            table=lambda: ready.table(arrays["uninformed"], **axes),
            arrays=lambda: {"points": points, "objects": ready.names, **arrays},
            picture=lambda look: ready.picture(look, points, arrays["uninformed"]),
        )
