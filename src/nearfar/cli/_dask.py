"""The option ``--dask``: the same commands on the workers of a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nearfar.cli._common import Loaded, OnBad, tell
from nearfar.cli._methods import Prepared, find_images, need_answers, prepare, read_names
from nearfar.errors import FileError, InputError

if TYPE_CHECKING:
    from nearfar.triplets import Triplets

__all__ = ["Dask", "Here", "place", "write_kernel"]

Dask = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="CLUSTER",
        help="Work on Dask: local or local:WORKERS for processes of this machine, or the address of a scheduler, "
        "such as tcp://10.0.0.1:8786. Answers are then Parquet or CSV files that all workers see.",
        show_default=False,
    ),
]


class Here:
    """The verbs that commands need, on this machine."""

    prepare = staticmethod(prepare)

    def fit_map(self, phi: Any, **settings: Any) -> Any:
        """A fitted KernelPCA."""
        from nearfar.methods import KernelPCA

        return KernelPCA(**settings).fit(phi)

    def fit_clusters(self, phi: Any, **settings: Any) -> Any:
        """A fitted KernelKMeans and its medoids."""
        from nearfar.methods import KernelKMeans, medoid

        model = KernelKMeans(**settings).fit(phi)
        return model, medoid(phi, model.labels_)


class There(Here):
    """The same verbs on the active cluster; results with one entry per object come here."""

    @staticmethod
    def prepare(
        answers: Sequence[str],
        kernel: str,
        landmarks: Path | None,
        *,
        images: Path | None = None,
        pictures: bool = False,
        **reading: Any,
    ) -> Prepared:
        """Count the answers on the cluster; Phi stays there."""
        from nearfar import scale
        from nearfar.features import parse_kernel

        parse_kernel(kernel)
        loaded, found = _read(answers, **reading)
        chosen = None if landmarks is None else read_names(landmarks)
        fitted = scale.FeatureMap(kernel, landmarks=chosen).fit(found)
        if not fitted.n_answers_:
            need_answers(loaded, answers)
        pictured = find_images(loaded, images, reading.get("objects")) if pictures else {}
        return Prepared(loaded, fitted.features_, pictured)

    def fit_map(self, phi: Any, **settings: Any) -> Any:
        """A fitted KernelPCA, its coordinates here."""
        from nearfar import scale
        from nearfar.scale._cut import fetch

        model = scale.KernelPCA(**settings).fit(phi)
        model.embedding_ = fetch("fetching the map", model.embedding_)
        return model

    def fit_clusters(self, phi: Any, **settings: Any) -> Any:
        """A fitted KernelKMeans, its labels here, and its medoids."""
        from nearfar import scale
        from nearfar.scale._cut import fetch

        model = scale.KernelKMeans(**settings).fit(phi)
        medoids = scale.medoid(phi, model.labels_)
        model.labels_ = fetch("fetching the clusters", model.labels_)
        return model, medoids


@contextmanager
def place(dask: str | None) -> Iterator[Here]:
    """Where to work: here, or on the cluster that ``--dask`` names, which is left at the end."""
    if dask is None:
        yield Here()
        return
    from nearfar.scale import connect

    with connect(dask):
        yield There()


def write_kernel(
    dask: str,
    answers: Sequence[str],
    outputs: Sequence[str],
    kernel: str,
    landmarks: Path | None,
    *,
    diagonal: Any,
    quiet: bool,
    **reading: Any,
) -> None:
    """The kernel matrix on a cluster: to a Zarr array, which is as large as the disk."""
    for output in outputs:
        if Path(output).suffix.lower() != ".zarr" or len(outputs) > 1:
            raise FileError(
                f"{output}: with --dask the kernel matrix is written in blocks; give one output that ends in .zarr",
            )
    from nearfar import scale
    from nearfar.scale.kernel import check_place

    check_place(outputs[0])
    with place(dask) as there:
        ready = there.prepare(answers, kernel, landmarks, **reading)
        scale.gram(ready.phi, to=outputs[0], diagonal=diagonal, objects=ready.names)
    tell(f"wrote {outputs[0]}", quiet=quiet)


def _read(
    answers: Sequence[str],
    *,
    dialect: str | None = None,
    objects: Path | None = None,
    on_bad: str = "error",
    exclude: Path | None = None,
) -> tuple[Loaded, Any]:
    """The answers where workers find them; here there are only the names of their objects."""
    from nearfar import scale
    from nearfar.io import ReadResult, read_objects

    if exclude is not None:
        raise InputError(
            "--exclude does not work with --dask; take the answers of these people out of the files first, with  "
            "nearfar convert --exclude",
        )
    if "-" in answers:
        raise InputError(
            "- : with --dask answers are files that all workers see, not standard input",
        )
    listed = None if objects is None else read_objects(objects)
    found = scale.read_triplets(list(answers), dialect=dialect, objects=listed, on_bad=OnBad(on_bad).value)
    triplets = _nothing_about(found.objects)
    return Loaded(triplets, ReadResult(triplets, *_no_rows(), ()), listed, {}), found


def _nothing_about(objects: Sequence[str]) -> Triplets:
    import numpy as np

    from nearfar.triplets import Triplets

    none = np.empty(0, np.int32)
    return Triplets(none, none, none, objects)


def _no_rows() -> tuple[Any, Any]:
    import polars as pl

    from nearfar.io._report import CHECKS, REJECTED

    return pl.DataFrame(schema=pl.Schema(REJECTED)), pl.DataFrame(schema=pl.Schema(CHECKS))  # type: ignore[arg-type]
