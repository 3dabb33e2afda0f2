"""``nearfar kernel``: the kernel matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nearfar.cli._options import METHOD, Given, takes
from nearfar.cli._prepared import Prepared, prepared
from nearfar.cli._writing import check_look, check_outputs, write_all
from nearfar.errors import FileError, InputError

if TYPE_CHECKING:
    import polars as pl

    from nearfar.plot.style import Look
    from nearfar.report.figures import Printed


@takes(*METHOD, "dask", "scratch")
def kernel(given: Given) -> None:
    """Compute the kernel matrix: how similar every two objects are.

    A table has a row and a column per object, in the same order; .npz holds arrays kernel, objects, uninformed. A
    picture shows the matrix with similar objects side by side. Any kernel method takes it as "precomputed".
    With --dask or --scratch it goes to a Zarr array (-o NAME.zarr), block by block; its attributes hold objects,
    uninformed, shift.

    Example:  nearfar kernel answers.csv --model k1+k2 -o kernel.npz
    """
    in_blocks = given.dask is not None or given.scratch is not None
    zarr = [path for path in given.output if path.lower().endswith(".zarr")]
    if in_blocks:
        _check_array(given, zarr)
    elif zarr:
        raise InputError("--output: a Zarr array is written block by block; add --scratch or --dask")
    else:
        check_outputs(given)
    with prepared(given) as ready:
        if in_blocks:
            from nearfar import scale

            scale.gram(ready.space.phi, to=zarr[0], diagonal=ready.space.diagonal, objects=ready.names)
            given.tell(f"wrote {zarr[0]}")
            return
        given.tell(ready.headline)
        space = ready.space
        K, shift = space.kernel(space.diagonal), space.shift if given.diagonal == "shift" else 0.0
        arrays = {"kernel": K, "objects": ready.names, "uninformed": space.uninformed, "shift": shift}
        write_all(
            given,
            table=lambda: _table(ready, K),
            arrays=lambda: {**arrays, "model": space.model},
            picture=lambda look: _picture(look, ready, K),
        )


def _check_array(given: Given, zarr: list[str]) -> None:
    """With --dask or --scratch there is one output, a Zarr array, which may be as large as the disk."""
    from nearfar.scale.kernel import check_target

    if given.title:
        raise InputError("--title does not work with --dask or --scratch: there is no picture")
    check_look(given, drawn=False)
    if zarr != given.output or len(zarr) > 1:
        blocks = "with --dask or --scratch the kernel matrix is written in blocks"
        raise FileError(f"{given.output[0]}: {blocks}; give one output that ends in .zarr")
    check_target(zarr[0])


def _table(ready: Prepared, K: Any) -> pl.DataFrame:
    import polars as pl

    names, first = list(ready.names), "object"
    while first in names:  # an object may be called so itself
        first += "_"
    return pl.DataFrame({first: names}).hstack(pl.from_numpy(K, schema=names))


def _picture(look: Look, ready: Prepared, K: Any) -> Printed:
    from scipy.cluster.hierarchy import leaves_list

    from nearfar.report.figures import print_matrix

    space = ready.space
    order = leaves_list(space.tree()) if len(ready.names) > 1 else [0]
    shown = [int(x) for x in order if space.informed[x]]
    return print_matrix(look, K, ready.display_names, shown, space.model)
