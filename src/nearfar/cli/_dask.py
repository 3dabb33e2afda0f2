"""The options ``--dask`` and ``--scratch``: the same commands on the workers of a cluster, or with rows on disk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nearfar.cli._common import Loaded, OnBad, named_columns, read_lines, tell
from nearfar.cli._methods import Prepared, find_images, need_answers, prepare
from nearfar.errors import FileError, InputError

if TYPE_CHECKING:
    from nearfar.triplets import Triplets

__all__ = ["DaskOption", "InMemory", "Mapped", "ScratchOption", "backend", "write_kernel"]

DaskOption = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="CLUSTER",
        help="Work on Dask: local or local:WORKERS for processes of this machine, or the address of a scheduler, "
        "such as tcp://10.0.0.1:8786. Answers are then Parquet or CSV files that all workers see.",
        show_default=False,
    ),
]


ScratchOption = Annotated[
    Path | None,
    typer.Option(
        "--scratch",
        metavar="DIR",
        help="Keep the features in files of this folder instead of memory, for more objects than memory holds; it "
        "needs room for about two copies of them. Answers are then Parquet or CSV files.",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class Mapped:
    """Coordinates of the objects, what else is known of them (``arrays``), and one line about them."""

    points: Any
    uninformed: Any
    note: str
    arrays: dict[str, Any]


class InMemory:
    """The verbs that commands need, on this machine."""

    prepare = staticmethod(prepare)

    def map(self, ready: Prepared, dimensions: int) -> Mapped:
        """Coordinates of the objects."""
        space = ready.space
        if space.kind == "kernel":
            return _mapped_by_pca(space.pca(dimensions), space.model)
        learnt = {
            name: getattr(space.estimator, f"{name}_")
            for name in ("loss", "n_iter", "converged")
            if hasattr(space.estimator, f"{name}_")
        }
        note = ready.headline or _agreement(ready, space)
        return Mapped(
            space.map(dimensions), space.uninformed, note, {"uninformed": space.uninformed, **learnt}
        )

    def clusters(self, ready: Prepared, n_clusters: int, n_init: int, seed: int) -> Any:
        """Clusters of the objects, with their medoids."""
        return ready.space.clusters(n_clusters, n_init=n_init, seed=seed)


def _mapped_by_pca(pca: Any, kernel: str) -> Mapped:
    from nearfar._tools.text import listed, percent

    shares = listed([percent(share) for share in pca.explained_variance_ratio_], most=10)
    note = f"kernel PCA of {kernel}: the coordinates hold {shares} of the spread"
    arrays = {
        "uninformed": pca.uninformed_,
        "eigenvalues": pca.eigenvalues_,
        "explained_variance_ratio": pca.explained_variance_ratio_,
        "shift": pca.shift_,
    }
    return Mapped(pca.embedding_, pca.uninformed_, note, arrays)


def _agreement(ready: Prepared, space: Any) -> str:
    from nearfar._tools.text import percent

    agreed = percent(float(space.credits(ready.loaded.triplets).mean()))
    return f"{space.model}: agrees with {agreed} of the answers it was made from; for new answers see  nearfar compare"


class InBlocks(InMemory):
    """The same verbs on features in blocks, which workers of Dask or files hold; what is found comes here."""

    @staticmethod
    def prepare(
        answers: Sequence[str],
        model: str,
        landmarks: Path | None,
        *,
        diagonal: str = "shift",
        dimensions: int | None = None,
        settings: dict[str, Any] | None = None,
        seed: int = 0,
        images: Path | None = None,
        pictures: bool = False,
        **reading: Any,
    ) -> Prepared:
        """Count the answers in pieces; Phi stays in blocks."""
        from nearfar import scale
        from nearfar.space import parse_model
        from nearfar.space.models import KernelModel

        parsed = None if model == "auto" else parse_model(model)
        if not isinstance(parsed, KernelModel) or parsed.n_components is not None or settings:
            raise InputError(
                f"--model {model}: --dask and --scratch work with kernels; name one, such as --model score or --model k1"
            )
        loaded, found = _read(answers, **reading)
        chosen = None if landmarks is None else read_lines(landmarks, "object")
        fitted = scale.FeatureMap(parsed.kernel, landmarks=chosen).fit(found)
        if not fitted.n_answers_:
            need_answers(loaded, answers)
        pictured = find_images(loaded, images, reading.get("objects")) if pictures else {}
        return Prepared(loaded, _Blocks(fitted.features_, parsed.kernel, diagonal), "", pictured)

    def map(self, ready: Prepared, dimensions: int) -> Mapped:
        """Kernel PCA, its coordinates here."""
        from nearfar.methods import KernelPCA

        there = ready.space
        pca = KernelPCA(n_components=dimensions, diagonal=there.diagonal).fit(there.phi)
        pca.embedding_ = pca.embedding_.to_array("fetching the map")
        return _mapped_by_pca(pca, there.model)

    def clusters(self, ready: Prepared, n_clusters: int, n_init: int, seed: int) -> Any:
        """Kernel k-means, its labels here, and its medoids."""
        from nearfar.methods import KernelKMeans, medoid
        from nearfar.space.clusters import as_clusters

        there = ready.space
        found = KernelKMeans(n_clusters, n_init=n_init, diagonal=there.diagonal, random_state=seed)
        found.fit(there.phi)
        labels = found.labels_.to_array("fetching the clusters")
        return as_clusters(found, labels, medoid(there.phi, found.labels_))


@dataclass(frozen=True)
class _Blocks:
    """Phi in blocks, the kernel it is of, and what to do with its diagonal."""

    phi: Any
    model: str
    diagonal: str


@contextmanager
def backend(dask: str | None, scratch: Path | None = None) -> Iterator[InMemory]:
    """Where to work: in memory, on the cluster that ``--dask`` names, or in the folder that ``--scratch`` names."""
    if dask is None and scratch is None:
        yield InMemory()
        return
    from nearfar import scale

    if dask is not None and scratch is not None:
        raise InputError("--dask and --scratch do not go together; give one of them")
    with scale.scratch(scratch) if scratch is not None else scale.connect(str(dask)):
        yield InBlocks()


def write_kernel(
    dask: str | None,
    scratch: Path | None,
    answers: Sequence[str],
    outputs: Sequence[str],
    model: str,
    landmarks: Path | None,
    *,
    diagonal: Any,
    quiet: bool,
    **reading: Any,
) -> None:
    """Write the kernel matrix to a Zarr array, which may be as large as the disk."""
    for output in outputs:
        if Path(output).suffix.lower() != ".zarr" or len(outputs) > 1:
            raise FileError(
                f"{output}: with --dask or --scratch the kernel matrix is written in blocks; give one output that ends in "
                ".zarr",
            )
    from nearfar import scale
    from nearfar.scale.kernel import check_target

    check_target(outputs[0])
    with backend(dask, scratch) as verbs:
        ready = verbs.prepare(answers, model, landmarks, diagonal=diagonal, **reading)
        scale.gram(ready.space.phi, to=outputs[0], diagonal=diagonal, objects=ready.names)
    tell(f"wrote {outputs[0]}", quiet=quiet)


def _read(
    answers: Sequence[str],
    *,
    dialect: str | None = None,
    column: Sequence[str] | None = None,
    objects: Path | None = None,
    on_bad: str = "error",
    exclude: Path | None = None,
) -> tuple[Loaded, Any]:
    """The answers where workers find them; here there are only the names of their objects."""
    from nearfar import scale
    from nearfar.io import ReadResult, read_objects

    if exclude is not None:
        raise InputError(
            "--exclude does not work with --dask or --scratch; take the answers of these people out of the files first, with  "
            "nearfar convert --exclude",
        )
    if "-" in answers:
        raise InputError(
            "- : with --dask or --scratch answers are files, not standard input",
        )
    listed = None if objects is None else read_objects(objects)
    found = scale.read_triplets(
        list(answers),
        dialect=dialect,
        columns=named_columns(column),
        objects=listed,
        on_bad=OnBad(on_bad).value,
    )
    triplets = _nothing_about(found.objects)
    return Loaded(triplets, ReadResult(triplets), listed, {}), found


def _nothing_about(objects: Sequence[str]) -> Triplets:
    import numpy as np

    from nearfar.triplets import Triplets

    none = np.empty(0, np.int32)
    return Triplets(none, none, none, objects)
