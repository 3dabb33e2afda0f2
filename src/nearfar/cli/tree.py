"""``nearfar tree``: a tree of the objects by agglomerative linkage."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nearfar.cli._common import Answers, Dialect, Exclude, Objects, OnBad, OnBadOption, Quiet, session
from nearfar.cli._methods import (
    Diagonal,
    DiagonalOption,
    Kernel,
    Landmarks,
    Outputs,
    Prepared,
    Written,
    check_outputs,
    prepare,
    write_all,
)

if TYPE_CHECKING:
    import polars as pl

__all__ = ["tree"]


class Method(StrEnum):
    """What the distance between two groups is."""

    complete = "complete"
    average = "average"
    single = "single"


def tree(
    answers: Answers,
    output: Outputs = ["-"],  # noqa: B006 (typer copies it)
    method: Annotated[
        Method,
        typer.Option("--method", help="Distance of two groups: of the farthest pair, the mean, the nearest."),
    ] = Method.complete,
    clusters: Annotated[
        int | None,
        typer.Option(
            "--clusters", "-k", min=1, help="Cut the tree into so many clusters.", show_default=False
        ),
    ] = None,
    kernel: Kernel = "k1",
    landmarks: Landmarks = None,
    diagonal: DiagonalOption = Diagonal.shift,
    objects: Objects = None,
    title: Annotated[str, typer.Option("--title", help="Heading of the picture.", show_default=False)] = "",
    dialect: Dialect = None,
    on_bad: OnBadOption = OnBad.error,
    exclude: Exclude = None,
    quiet: Quiet = False,
) -> None:
    """Grow a tree of the objects by agglomerative linkage on the kernel's distances.

    A table has a row per join, lowest first: what was joined, at which height, how many objects it holds. With
    --clusters the table has a row per object and its cluster instead (1 is the largest). .npz holds SciPy's linkage
    matrix, .nwk the tree in Newick's format. Objects without a usable answer are joined last, above the root.

    Example:  nearfar tree answers.csv -k 4 -o tree.svg -o clusters.csv
    """
    check_outputs(output, (".nwk",))
    with session(quiet):
        from nearfar.methods import cut, linkage

        ready = prepare(
            answers, kernel, landmarks, dialect=dialect, objects=objects, on_bad=on_bad, exclude=exclude
        )
        grown = linkage(ready.phi, method.value, diagonal=diagonal.value)
        labels = None if clusters is None else cut(grown, clusters)
        written = Written(
            lambda: _joins(ready, grown) if labels is None else _members(ready, labels),
            lambda: _arrays(ready, grown, labels),
            lambda: _picture(ready, grown, labels, title),
            {".nwk": lambda: _newick(ready, grown)},
        )
        write_all(output, written, quiet=quiet)


def _joins(ready: Prepared, grown: Any) -> pl.DataFrame:
    import polars as pl

    n = len(ready.names)

    def called(node: float) -> str:
        return ready.names[int(node)] if node < n else f"join {int(node) - n + 1}"

    return pl.DataFrame(
        {
            "join": [f"join {row + 1}" for row in range(n - 1)],
            "left": [called(node) for node in grown[:, 0]],
            "right": [called(node) for node in grown[:, 1]],
            "height": grown[:, 2].tolist(),
            "size": grown[:, 3].astype(int).tolist(),
        }
    )


def _members(ready: Prepared, labels: Any) -> pl.DataFrame:
    import polars as pl

    columns = ready.columns()
    columns["cluster"] = [int(label) + 1 if label >= 0 else None for label in labels]
    columns["informed"] = (labels >= 0).tolist()
    return pl.DataFrame(columns)


def _arrays(ready: Prepared, grown: Any, labels: Any) -> dict[str, Any]:
    from scipy.cluster.hierarchy import leaves_list

    arrays = {
        "linkage": grown,
        "objects": ready.names,
        "leaves": leaves_list(grown),
        "uninformed": grown.uninformed,
    }
    return arrays if labels is None else {**arrays, "cluster": [int(c) + 1 if c >= 0 else 0 for c in labels]}


def _newick(ready: Prepared, grown: Any) -> str:
    """((a:1,b:1):0.5,c:1.5); with quoted names and the lengths of branches."""
    n = len(ready.names)
    heights = [0.0] * n + [float(height) for height in grown[:, 2]]
    text = ["'" + name.replace("'", "''") + "'" for name in ready.names]
    for row in range(n - 1):
        a, b = int(grown[row, 0]), int(grown[row, 1])
        top = heights[n + row]
        text.append(f"({text[a]}:{top - heights[a]:.6g},{text[b]}:{top - heights[b]:.6g})")
        text[a] = text[b] = ""
    return f"{text[-1]};\n"


def _picture(ready: Prepared, grown: Any, labels: Any, title: str) -> Any:
    from nearfar.report.figures import tree_figure

    return tree_figure(grown, ready.labels, labels=labels, uninformed=grown.uninformed, title=title)
