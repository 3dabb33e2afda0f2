"""``nearfar map``: coordinates of the objects."""

from __future__ import annotations

from nearfar._tools.text import count
from nearfar.cli._options import METHOD, Given, own, takes
from nearfar.cli._prepared import prepared
from nearfar.cli._writing import check_outputs, draws, write_all


@takes(*METHOD, "images", "dask", "scratch")
def map(
    given: Given,
    dimensions: int = own(2, "How many coordinates.", "--dimensions", "-n", min=1),
) -> None:
    """Put the objects on a map: similar ones are close together.

    By default the model with so many dimensions that predicts held-out answers best. Kernels (--model score) are mapped
    by kernel PCA, embeddings in more dimensions (--model soe-8) by principal axes.

    A table has a row per object: its coordinates x1, x2, ... and whether any answer concerns it. A picture shows
    names, or pictures (--images, or column image of the object list), coloured by group; of three dimensions
    every two, of one a scale, with 95 % intervals where the model has one dimension. Caption: map.caption.txt.

    Example:  nearfar map answers.csv -o map.png -o map.csv
    """
    check_outputs(given)
    with prepared(given, dimensions=dimensions) as ready:
        points, arrays, note = ready.map(dimensions)
        given.tell(note)
        if 0 < (used := int(points.any(axis=0).sum())) < dimensions:
            has = f"{ready.space.model} has {count(used, 'dimension')} here"
            given.tell(f"{has}: x{used + 1} and further are 0")
        if draws(given.output) and dimensions > 3:
            given.tell(f"the picture shows the first two of {dimensions} dimensions; the table has all")
        axes = {f"x{d}": x for d, x in enumerate(points.T, start=1)}
        write_all(
            given,
            table=lambda: ready.table(arrays["uninformed"], **axes),
            arrays=lambda: {"points": points, "objects": ready.names, **arrays},
            picture=lambda look: ready.picture(look, points, arrays["uninformed"]),
        )
