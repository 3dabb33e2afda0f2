"""``nearfar map``: coordinates of the objects."""

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
    session,
    tell,
)
from nearfar.cli._dask import DaskOption, ScratchOption, backend
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
    need_two,
    write_all,
)

if TYPE_CHECKING:
    import polars as pl

__all__ = ["map"]


def map(
    answers: AnswersArgument,
    output: OutputsOption = ["-"],  # noqa: B006 (typer copies it)
    model: ModelOption = "auto",
    dimensions: Annotated[int, typer.Option("--dimensions", "-n", min=1, help="How many coordinates.")] = 2,
    landmarks: LandmarksOption = None,
    diagonal: DiagonalOption = DiagonalChoice.shift,
    regularization: Annotated[
        float | None,
        typer.Option(
            "--regularization",
            min=0,
            help="Of an embedding: pull to the centre; 0 for none. Default: what did best on crowds' answers.",
            show_default=False,
        ),
    ] = None,
    starts: Annotated[
        int,
        typer.Option(
            "--starts",
            min=0,
            help="Of an embedding: try so many random starts; 0 for one start made from the answers.",
        ),
    ] = 0,
    max_iter: Annotated[
        int, typer.Option("--max-iter", min=1, help="Of an embedding: iterations, at most.")
    ] = 1000,
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
    """Put the objects on a map: alike ones lie close together.

    By default the model is chosen that predicts held-out answers best with so many dimensions. A kernel (--model
    score) is mapped by kernel PCA; an embedding (--model soe, with -n dimensions) gives its points; of an embedding
    in more dimensions (--model soe-8) the first principal axes are shown.

    A table has a row per object: its coordinates x1, x2, ... and whether any answer concerns it. A picture shows
    names, or pictures of the objects (--images, or column image of the object list), coloured by their group (column
    group).

    Example:  nearfar map answers.csv -o map.png -o map.csv
    """
    check_outputs(output)
    need_two(output, dimensions)
    settings = _settings(regularization, starts, max_iter, seed)
    with session(quiet), backend(dask, scratch) as verbs:
        ready = verbs.prepare(
            answers,
            model,
            landmarks,
            dimensions=dimensions,
            settings=settings,
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
        found = verbs.map(ready, dimensions)
        tell(found.note, quiet=quiet)
        written = Written(
            lambda: _table(ready, found),
            lambda: {"points": found.points, "objects": ready.names, **found.arrays},
            lambda: _picture(ready, found, title),
        )
        write_all(output, written, quiet=quiet)


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


def _table(ready: Prepared, found: Any) -> pl.DataFrame:
    import polars as pl

    columns, unknown = ready.columns(), set(found.uninformed.tolist())
    columns |= {f"x{d + 1}": found.points[:, d] for d in range(found.points.shape[1])}
    columns["informed"] = [x not in unknown for x in range(len(ready.names))]
    return pl.DataFrame(columns)


def _picture(ready: Prepared, found: Any, title: str) -> Any:
    from nearfar.report.figures import map_figure

    return map_figure(
        found.points[:, :2],
        ready.display_names,
        groups=ready.groups,
        images=ready.images,
        uninformed=found.uninformed,
        title=title,
        note=found.note,
    )
