"""``nearfar embed``: coordinates of the objects by an ordinal embedding."""

from __future__ import annotations

from enum import StrEnum
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
    load,
    session,
    tell,
)
from nearfar.cli._methods import (
    Images,
    Outputs,
    Prepared,
    Written,
    check_outputs,
    draws,
    find_images,
    need_answers,
    need_two,
    write_all,
)

if TYPE_CHECKING:
    import polars as pl

__all__ = ["embed"]


class Method(StrEnum):
    """Which loss is minimised."""

    tste = "tste"
    ste = "ste"
    ckl = "ckl"
    soe = "soe"
    gnmds = "gnmds"


def embed(
    answers: Answers,
    output: Outputs = ["-"],  # noqa: B006 (typer copies it)
    method: Annotated[Method, typer.Option("--method", "-m", help="Which loss is minimised.")] = Method.tste,
    dimensions: Annotated[int, typer.Option("--dimensions", "-n", min=1, help="How many coordinates.")] = 2,
    regularization: Annotated[
        float | None,
        typer.Option(
            "--regularization",
            min=0,
            help="Pull to the centre; 0 for none. Default: what did best on crowds' answers.",
            show_default=False,
        ),
    ] = None,
    starts: Annotated[
        int,
        typer.Option(
            "--starts", min=0, help="Try so many random starts; 0 for one start made from the answers."
        ),
    ] = 0,
    max_iter: Annotated[int, typer.Option("--max-iter", min=1, help="Iterations, at most.")] = 1000,
    seed: Seed = 0,
    objects: Objects = None,
    images: Images = None,
    title: Annotated[str, typer.Option("--title", help="Heading of the picture.", show_default=False)] = "",
    dialect: Dialect = None,
    on_bad: OnBadOption = OnBad.error,
    exclude: Exclude = None,
    quiet: Quiet = False,
) -> None:
    """Find points whose distances agree with the answers (ordinal embedding).

    A table has a row per object: its coordinates x1, x2, ... and whether any answer names it; those without lie at
    the centre. A picture shows names, or pictures of the objects (--images, or column image of the object list),
    coloured by their group (column group). Which method and how many dimensions predict new answers best:
    nearfar compare.

    Example:  nearfar embed answers.csv --method soe -o points.csv -o points.png
    """
    check_outputs(output)
    need_two(output, dimensions)
    with session(quiet):
        from nearfar.evaluate.metrics import triplet_accuracy
        from nearfar.report.words import percent

        loaded = load(answers, dialect=dialect, objects=objects, on_bad=on_bad, exclude=exclude)
        need_answers(loaded, answers)
        ready = Prepared(loaded, None, find_images(loaded, images, objects) if draws(output) else {})
        model = _model(method, dimensions, regularization, starts, max_iter, seed).fit(loaded.triplets)
        agreed = percent(float(triplet_accuracy(loaded.triplets, points=model.embedding_)))
        name = f"{type(model).__name__} in {dimensions} dimension{'s' if dimensions > 1 else ''}"
        tell(
            f"{name}: agrees with {agreed} of the answers it was made from, after {model.n_iter_} iterations; "
            "for new answers see  nearfar compare",
            quiet=quiet,
        )
        note = f"{name}. Agrees with {agreed} of the answers it was made from."
        written = Written(
            lambda: _table(ready, model),
            lambda: _arrays(ready, model),
            lambda: _picture(ready, model, title, note),
        )
        write_all(output, written, quiet=quiet)


def _model(
    method: Method, dimensions: int, regularization: float | None, starts: int, max_iter: int, seed: int
) -> Any:
    from nearfar import embedding

    settings: dict[str, Any] = {"max_iter": max_iter, "random_state": seed}
    if regularization is not None:
        settings["regularization"] = regularization
    if starts:
        settings |= {"init": "random", "n_init": starts}
    return getattr(embedding, method.value.upper())(dimensions, **settings)


def _uninformed(ready: Prepared, model: Any) -> list[int]:
    missing = set(model.uninformed_objects_)
    return [x for x, name in enumerate(ready.names) if name in missing]


def _table(ready: Prepared, model: Any) -> pl.DataFrame:
    import polars as pl

    columns = ready.columns()
    columns |= {f"x{d + 1}": model.embedding_[:, d] for d in range(model.embedding_.shape[1])}
    missing = set(model.uninformed_objects_)
    columns["informed"] = [name not in missing for name in ready.names]
    return pl.DataFrame(columns)


def _arrays(ready: Prepared, model: Any) -> dict[str, Any]:
    return {
        "points": model.embedding_,
        "objects": ready.names,
        "uninformed": _uninformed(ready, model),
        "loss": model.loss_,
        "n_iter": model.n_iter_,
        "converged": model.converged_,
    }


def _picture(ready: Prepared, model: Any, title: str, note: str) -> Any:
    from nearfar.report.figures import map_figure

    return map_figure(
        model.embedding_[:, :2],
        ready.labels,
        groups=ready.groups,
        images=ready.images,
        uninformed=_uninformed(ready, model),
        title=title,
        note=note,
    )
