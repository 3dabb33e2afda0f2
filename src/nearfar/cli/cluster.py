"""``nearfar cluster``: clusters of the objects by kernel k-means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from nearfar.cli._common import (
    Answers,
    Dialect,
    Exclude,
    Objects,
    OnBad,
    OnBadOption,
    Quiet,
    Seed,
    session,
    tell,
)
from nearfar.cli._dask import Dask, Here, place
from nearfar.cli._methods import (
    Diagonal,
    DiagonalOption,
    Images,
    Kernel,
    Landmarks,
    Outputs,
    Prepared,
    Written,
    check_outputs,
    draws,
    write_all,
)

if TYPE_CHECKING:
    import polars as pl

__all__ = ["cluster"]


def cluster(
    answers: Answers,
    clusters: Annotated[
        int, typer.Option("--clusters", "-k", min=1, help="How many clusters.", show_default=False)
    ],
    output: Outputs = ["-"],  # noqa: B006 (typer copies it)
    starts: Annotated[int, typer.Option("--starts", min=1, help="Runs; the best is kept.")] = 10,
    kernel: Kernel = "k1",
    landmarks: Landmarks = None,
    diagonal: DiagonalOption = Diagonal.shift,
    objects: Objects = None,
    images: Images = None,
    title: Annotated[str, typer.Option("--title", help="Heading of the picture.", show_default=False)] = "",
    seed: Seed = 0,
    dialect: Dialect = None,
    on_bad: OnBadOption = OnBad.error,
    exclude: Exclude = None,
    dask: Dask = None,
    quiet: Quiet = False,
) -> None:
    """Sort the objects into clusters by kernel k-means.

    A table has a row per object: its cluster (1 is the largest), whether it is the medoid, the most typical object
    of its cluster, and whether any answer speaks about it. A picture is a map coloured by cluster.

    Example:  nearfar cluster answers.csv -k 4 -o clusters.csv -o clusters.png
    """
    check_outputs(output)
    with session(quiet), place(dask) as there:
        ready = there.prepare(
            answers,
            kernel,
            landmarks,
            images=images,
            pictures=draws(output),
            dialect=dialect,
            objects=objects,
            on_bad=on_bad,
            exclude=exclude,
        )
        model, medoids = there.fit_clusters(
            ready.phi, n_clusters=clusters, n_init=starts, diagonal=diagonal.value, random_state=seed
        )
        for c, x in zip(medoids.clusters, medoids.indices, strict=True):
            tell(f"cluster {c + 1}: {model.sizes_[c]} objects around {ready.labels[x]}", quiet=quiet)
        written = Written(
            lambda: _table(ready, model, medoids),
            lambda: _arrays(ready, model, medoids),
            lambda: _picture(
                ready, there, model, diagonal, title, f"Kernel k-means on a map by kernel PCA, {kernel}."
            ),
        )
        write_all(output, written, quiet=quiet)


def _table(ready: Prepared, model: Any, medoids: Any) -> pl.DataFrame:
    import polars as pl

    unknown, typical = set(model.uninformed_.tolist()), set(medoids.indices.tolist())
    columns = ready.columns()
    columns["cluster"] = model.labels_ + 1
    columns["medoid"] = [x in typical for x in range(len(ready.names))]
    columns["informed"] = [x not in unknown for x in range(len(ready.names))]
    return pl.DataFrame(columns)


def _arrays(ready: Prepared, model: Any, medoids: Any) -> dict[str, Any]:
    return {
        "cluster": model.labels_ + 1,
        "objects": ready.names,
        "uninformed": model.uninformed_,
        "medoids": medoids.indices,
        "inertia": model.inertia_,
        "shift": model.shift_,
    }


def _picture(ready: Prepared, there: Here, model: Any, diagonal: Diagonal, title: str, note: str) -> Any:
    from nearfar.report.figures import map_figure

    points = there.fit_map(ready.phi, n_components=2, diagonal=diagonal.value).embedding_
    groups = [f"cluster {c + 1}" for c in model.labels_]
    return map_figure(
        points,
        ready.labels,
        groups=groups,
        images=ready.images,
        uninformed=model.uninformed_,
        title=title,
        note=note,
    )
