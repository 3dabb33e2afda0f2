"""``nearfar map``: coordinates of the objects by kernel PCA."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from nearfar.cli._common import Answers, Dialect, Exclude, Objects, OnBad, OnBadOption, Quiet, session, tell
from nearfar.cli._dask import Dask, place
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
    need_two,
    write_all,
)

if TYPE_CHECKING:
    import polars as pl

__all__ = ["map"]


def map(
    answers: Answers,
    output: Outputs = ["-"],  # noqa: B006 (typer copies it)
    dimensions: Annotated[int, typer.Option("--dimensions", "-n", min=1, help="How many coordinates.")] = 2,
    kernel: Kernel = "k1",
    landmarks: Landmarks = None,
    diagonal: DiagonalOption = Diagonal.shift,
    objects: Objects = None,
    images: Images = None,
    title: Annotated[str, typer.Option("--title", help="Heading of the picture.", show_default=False)] = "",
    dialect: Dialect = None,
    on_bad: OnBadOption = OnBad.error,
    exclude: Exclude = None,
    dask: Dask = None,
    quiet: Quiet = False,
) -> None:
    """Put the objects on a map by kernel PCA: alike ones lie close together.

    A table has a row per object: its coordinates x1, x2, ... and whether any answer speaks about it. A picture
    shows names, or pictures of the objects (--images, or column image of the object list), coloured by their
    group (column group).

    Example:  nearfar map answers.csv -o map.png -o map.csv
    """
    check_outputs(output)
    need_two(output, dimensions)
    with session(quiet), place(dask) as there:
        from nearfar.report.words import listed, percent

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
        model = there.fit_map(ready.phi, n_components=dimensions, diagonal=diagonal.value)
        shares = listed([percent(share) for share in model.explained_variance_ratio_], most=10)
        tell(f"kernel PCA of {kernel}: the coordinates hold {shares} of the spread", quiet=quiet)
        written = Written(
            lambda: _table(ready, model),
            lambda: _arrays(ready, model),
            lambda: _picture(
                ready, model, title, f"Kernel PCA of {kernel}. The coordinates hold {shares} of the spread."
            ),
        )
        write_all(output, written, quiet=quiet)


def _table(ready: Prepared, model: Any) -> pl.DataFrame:
    import polars as pl

    columns, unknown = ready.columns(), set(model.uninformed_.tolist())
    columns |= {f"x{d + 1}": model.embedding_[:, d] for d in range(model.embedding_.shape[1])}
    columns["informed"] = [x not in unknown for x in range(len(ready.names))]
    return pl.DataFrame(columns)


def _arrays(ready: Prepared, model: Any) -> dict[str, Any]:
    return {
        "points": model.embedding_,
        "objects": ready.names,
        "uninformed": model.uninformed_,
        "eigenvalues": model.eigenvalues_,
        "explained_variance_ratio": model.explained_variance_ratio_,
        "shift": model.shift_,
    }


def _picture(ready: Prepared, model: Any, title: str, note: str) -> Any:
    from nearfar.report.figures import map_figure

    return map_figure(
        model.embedding_[:, :2],
        ready.labels,
        groups=ready.groups,
        images=ready.images,
        uninformed=model.uninformed_,
        title=title,
        note=note,
    )
