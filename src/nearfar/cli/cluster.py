"""``nearfar cluster``: clusters of the objects by kernel k-means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

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
    many,
    session,
    tell,
)
from nearfar.cli._dask import DaskOption, InMemory, ScratchOption, backend
from nearfar.cli._methods import (
    DiagonalChoice,
    DiagonalOption,
    ImagesOption,
    LandmarksOption,
    ModelOption,
    OutputsOption,
    Prepared,
    TitleOption,
    Written,
    check_outputs,
    draws,
    write_all,
)

if TYPE_CHECKING:
    import polars as pl

    from nearfar.space import Clusters

__all__ = ["cluster"]


def cluster(
    answers: AnswersArgument,
    clusters: Annotated[
        int, typer.Option("--clusters", "-k", min=1, help="How many clusters.", show_default=False)
    ],
    output: OutputsOption = ["-"],  # noqa: B006 (typer copies it)
    starts: Annotated[int, typer.Option("--starts", min=1, help="Runs; the best is kept.")] = 10,
    model: ModelOption = "auto",
    landmarks: LandmarksOption = None,
    diagonal: DiagonalOption = DiagonalChoice.shift,
    objects: ObjectsOption = None,
    images: ImagesOption = None,
    title: TitleOption = "",
    seed: SeedOption = 0,
    dialect: DialectOption = None,
    column: ColumnOption = None,
    on_bad: OnBadOption = OnBad.error,
    exclude: ExcludeOption = None,
    dask: DaskOption = None,
    scratch: ScratchOption = None,
    quiet: QuietOption = False,
) -> None:
    """Sort the objects into clusters by kernel k-means.

    A table has a row per object: its cluster (1 is the largest), whether it is the medoid, the most typical object
    of its cluster, and whether any answer concerns it. A picture is a map coloured by cluster.

    Example:  nearfar cluster answers.csv -k 4 -o clusters.csv -o clusters.png
    """
    check_outputs(output)
    with session(quiet), backend(dask, scratch) as verbs:
        ready = verbs.prepare(
            answers,
            model,
            landmarks,
            diagonal=diagonal.value,
            seed=seed,
            images=images,
            pictures=draws(output),
            dialect=dialect,
            column=column,
            objects=objects,
            on_bad=on_bad,
            exclude=exclude,
        )
        found = verbs.clusters(ready, clusters, starts, seed)
        if ready.headline:
            tell(ready.headline, quiet=quiet)
        for c, x in enumerate(found.medoids):
            if x >= 0:
                tell(
                    f"cluster {c + 1}: {many(int(found.sizes[c]), 'object')} around {ready.display_names[x]}",
                    quiet=quiet,
                )
        written = Written(
            lambda: _table(ready, found),
            lambda: _arrays(ready, found),
            lambda: _picture(ready, verbs, found, title),
        )
        write_all(output, written, quiet=quiet)


def _table(ready: Prepared, found: Clusters) -> pl.DataFrame:
    import polars as pl

    unknown, typical = set(found.uninformed.tolist()), set(found.medoids.tolist())
    columns = ready.columns()
    columns["cluster"] = found.labels + 1
    columns["medoid"] = [x in typical for x in range(len(ready.names))]
    columns["informed"] = [x not in unknown for x in range(len(ready.names))]
    return pl.DataFrame(columns)


def _arrays(ready: Prepared, found: Clusters) -> dict[str, Any]:
    return {
        "cluster": found.labels + 1,
        "objects": ready.names,
        "uninformed": found.uninformed,
        "medoids": found.medoids[found.medoids >= 0],
        "inertia": found.inertia,
        "model": ready.space.model,
    }


def _picture(ready: Prepared, verbs: InMemory, found: Clusters, title: str) -> Any:
    from nearfar.report.figures import map_figure

    mapped = verbs.map(ready, 2)
    return map_figure(
        mapped.points[:, :2],
        ready.display_names,
        groups=[f"cluster {c + 1}" for c in found.labels],
        images=ready.images,
        uninformed=found.uninformed.tolist(),
        title=title,
        note=f"Clusters by kernel k-means in the space of {ready.space.model}.",
    )
