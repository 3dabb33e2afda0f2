"""``nearfar kernel``: the kernel matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
from nearfar.cli._dask import DaskOption, ScratchOption, write_kernel
from nearfar.cli._methods import (
    DiagonalChoice,
    DiagonalOption,
    LandmarksOption,
    ModelOption,
    OutputsOption,
    Prepared,
    TitleOption,
    Written,
    check_outputs,
    prepare,
    write_all,
)
from nearfar.errors import InputError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["kernel"]


def kernel(
    answers: AnswersArgument,
    output: OutputsOption = ["-"],  # noqa: B006 (typer copies it)
    model: ModelOption = "auto",
    landmarks: LandmarksOption = None,
    diagonal: DiagonalOption = DiagonalChoice.shift,
    objects: ObjectsOption = None,
    title: TitleOption = "",
    dialect: DialectOption = None,
    column: ColumnOption = None,
    on_bad: OnBadOption = OnBad.error,
    exclude: ExcludeOption = None,
    seed: SeedOption = 0,
    dask: DaskOption = None,
    scratch: ScratchOption = None,
    quiet: QuietOption = False,
) -> None:
    """Compute the kernel matrix: how alike every two objects were answered about.

    A table has a row and a column per object, in the same order; .npz holds arrays kernel, objects, uninformed. A
    picture shows the matrix with alike objects side by side. Any kernel method takes it as "precomputed".
    With --dask or --scratch it goes to a Zarr array (-o NAME.zarr), block by block; its attributes hold objects,
    uninformed, shift.

    Example:  nearfar kernel answers.csv --model k1+k2 -o kernel.npz
    """
    reading: dict[str, Any] = {
        "dialect": dialect,
        "column": column,
        "objects": objects,
        "on_bad": on_bad,
        "exclude": exclude,
    }
    if dask is not None or scratch is not None:
        if title:
            raise InputError(
                "--title does not work with --dask or --scratch: there is no picture",
            )
        with session(quiet):
            write_kernel(
                dask,
                scratch,
                answers,
                output,
                model,
                landmarks,
                diagonal=diagonal.value,
                quiet=quiet,
                **reading,
            )
        return
    if any(path.lower().endswith(".zarr") for path in output):
        raise InputError("--output: a Zarr array is written block by block; add --scratch or --dask")
    check_outputs(output)
    with session(quiet):
        ready = prepare(answers, model, landmarks, diagonal=diagonal.value, seed=seed, **reading)
        if ready.headline:
            tell(ready.headline, quiet=quiet)
        space = ready.space
        K = space.kernel(diagonal.value)
        written = Written(
            lambda: _table(ready, K),
            lambda: {
                "kernel": K,
                "objects": ready.names,
                "uninformed": space.uninformed,
                "shift": space.shift if diagonal is DiagonalChoice.shift else 0.0,
                "model": space.model,
            },
            lambda: _picture(ready, K, title),
        )
        write_all(output, written, quiet=quiet)


def _table(ready: Prepared, K: Any) -> pl.DataFrame:
    import polars as pl

    names, first = list(ready.names), "object"
    while first in names:  # an object may be called so itself
        first += "_"
    return pl.DataFrame({first: names}).hstack(pl.from_numpy(K, schema=names))


def _picture(ready: Prepared, K: Any, title: str) -> Any:
    from scipy.cluster.hierarchy import leaves_list

    from nearfar.report.figures import kernel_figure

    order = leaves_list(ready.space.tree()) if len(ready.names) > 1 else None
    return kernel_figure(K, ready.display_names, order=order, uninformed=ready.space.uninformed, title=title)
