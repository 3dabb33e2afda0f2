"""From answers to a space: in memory, or (``--dask``, ``--scratch``) as features in blocks on workers or on disk."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearfar import words
from nearfar._tools.text import count, listed, percent, read_lines
from nearfar.cli._options import Given
from nearfar.cli._reading import Loaded, load, load_features, named_columns
from nearfar.cli._writing import draws
from nearfar.errors import FileError, InputError, NearfarWarning

if TYPE_CHECKING:
    import polars as pl

    from nearfar.plot.style import Look
    from nearfar.report.figures import Printed

QUADRUPLETS = "quadruplets"  # as a dialect
NOT_EVERYWHERE = ("wide", "sheet", "where", "join_names")


@dataclass(frozen=True)
class Prepared:
    """The space of answers, lines about its model where it was judged (one ``told`` in captions), and how to call the objects."""

    loaded: Loaded
    space: Any
    headline: str
    images: dict[int, Path]
    told: str = ""
    seed: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the objects, as in the answers."""
        return self.loaded.triplets.objects

    @cached_property
    def display_names(self) -> tuple[str, ...]:
        """What to call the objects in pictures."""
        return self.loaded.display_names

    def table(self, uninformed: Any, **columns: Any) -> pl.DataFrame:
        """A row per object: its name, these columns, and whether any answer concerns it."""
        import polars as pl

        first: dict[str, Any] = {"object": list(self.names)}
        if self.display_names != self.names:
            first["display_name"] = list(self.display_names)
        unknown = set(map(int, uninformed))
        informed = [x not in unknown for x in range(len(self.names))]
        return pl.DataFrame({**first, **columns, "informed": informed})

    def picture(self, look: Look, points: Any, uninformed: Any, clusters: Any = None) -> Printed:
        """A map of the objects, coloured by their groups or, where given, by clusters."""
        import numpy as np

        from nearfar.report.figures import print_map, print_scale

        shown = np.array(points, dtype=np.float64)
        shown[np.asarray(uninformed, dtype=np.intp)] = np.nan
        model, rows = self.space.model, getattr(self.space, "n_components", None)
        if shown.shape[1] == 1:
            from nearfar.evaluate import Analysis
            from nearfar.triplets import Triplets

            answers: Any = self.loaded.triplets
            estimator, scale = getattr(self.space, "estimator", None), None
            if estimator is not None and isinstance(answers, Triplets):  # else there are none to resample
                scale = Analysis(answers, estimator, seed=self.seed).scale
            given: dict[str, Any] = {"model": model if rows == 1 else f"PCA of {model}", "told": self.told}
            return print_scale(look, shown[:, 0], scale, self.display_names, **given)
        group_of = self.loaded.listed("groups")
        groups = [group_of[name] or "no group" for name in self.names] if any(group_of.values()) else None
        return print_map(
            look,
            shown,
            self.display_names,
            model=model if rows == shown.shape[1] else f"PCA of {model}",
            groups=groups if clusters is None else [f"cluster {c + 1}" for c in clusters],
            colours="groups of objects" if clusters is None else "clusters by kernel k-means",
            images=self.images,
            placed=None if rows is None else self.space.placed.tolist(),
            told=self.told,
        )

    def map(self, dimensions: int) -> tuple[Any, dict[str, Any], str]:
        """Coordinates of the objects, what else is known of them, and one line about them."""
        space = self.space
        if space.kind == "kernel":
            return _by_pca(space.pca(dimensions), space.model)
        learnt = [name for name in ("loss", "n_iter", "converged") if hasattr(space.estimator, f"{name}_")]
        arrays = {"uninformed": space.uninformed} | {x: getattr(space.estimator, f"{x}_") for x in learnt}
        points = space.map(dimensions)
        if float(points.max() - points.min()) < 1e-6:
            told = "the answers contradict each other: all objects are at one point"
            warnings.warn(told, NearfarWarning, stacklevel=2)
        if self.headline:
            return points, arrays, self.headline
        from nearfar.triplets import Triplets

        said: Any = self.loaded.triplets
        if isinstance(said, Triplets):
            share, more = float(space.credits(said).mean()), "; for new answers see  nearfar compare"
        else:  # quadruplets, which cannot be held out
            share, more = space.estimator.score(said), ""
        note = f"agrees with {percent(share)} of the answers it was made from{more}"
        return points, arrays, f"{space.model}: {note}"

    def clusters(self, n_clusters: int, n_init: int, seed: int) -> Any:
        """Clusters of the objects, with their medoids."""
        return self.space.clusters(n_clusters, n_init=n_init, seed=seed)


class _InBlocks(Prepared):
    """The same of features in blocks: ``space`` has ``phi``, ``model`` and ``diagonal``; results come here."""

    def map(self, dimensions: int) -> tuple[Any, dict[str, Any], str]:
        """Kernel PCA, its coordinates here."""
        from nearfar.methods import KernelPCA

        pca = KernelPCA(n_components=dimensions, diagonal=self.space.diagonal).fit(self.space.phi)
        pca.embedding_ = pca.embedding_.to_array("fetching the map")
        return _by_pca(pca, self.space.model)

    def clusters(self, n_clusters: int, n_init: int, seed: int) -> Any:
        """Kernel k-means, its labels here, and its medoids."""
        from nearfar.methods import KernelKMeans, medoid
        from nearfar.space.results import as_clusters

        phi = self.space.phi
        fitted = KernelKMeans(n_clusters, n_init=n_init, diagonal=self.space.diagonal, random_state=seed)
        fitted.fit(phi)
        labels = fitted.labels_.to_array("fetching the clusters")
        return as_clusters(fitted, labels, medoid(phi, fitted.labels_))


def _by_pca(pca: Any, kernel: str) -> tuple[Any, dict[str, Any], str]:
    shares = listed([percent(share) for share in pca.explained_variance_ratio_], most=10)
    names = ("uninformed", "eigenvalues", "explained_variance_ratio", "shift")
    arrays = {name: getattr(pca, f"{name}_") for name in names}
    return pca.embedding_, arrays, f"kernel PCA of {kernel}: the coordinates hold {shares} of the spread"


@contextmanager
def prepared(given: Given, *, dimensions: int | None = None) -> Iterator[Prepared]:
    """Read answers and make their space; find pictures of the objects where they will be drawn.

    ``dimensions`` : of a map; they complete the name of an embedding, and ``auto`` chooses among models that have so many.
    """
    if given.dask is None and given.scratch is None:
        loaded = _quadruplets(given) if given.dialect == QUADRUPLETS else load(given)
        _need_answers(given, loaded, len(loaded.triplets))
        from nearfar.space import EMBEDDINGS

        name, headline, told = "".join(given.model.lower().split()), "", ""
        if name == "auto":
            space, headline, told = _best(given, loaded, dimensions)
        else:
            flat = name in EMBEDDINGS and dimensions is not None
            space = _named(given, loaded, f"{name}-{dimensions}" if flat else name)
        if given.features and space.model != "features":
            given.tell(words.vector_shares(space.shares))
        space.diagonal = given.diagonal
        yield Prepared(loaded, space, headline, images_of(given, loaded), told, given.seed)
        return
    from nearfar import scale

    if given.dask is not None and given.scratch is not None:
        raise InputError("--dask and --scratch do not go together; give one of them")
    with scale.scratch(given.scratch) if given.scratch is not None else scale.connect(str(given.dask)):
        yield _in_blocks(given)


def _quadruplets(given: Given) -> Loaded:
    """Quadruplets in place of answers, for embeddings."""
    from nearfar.io import ReadResult, read_quadruplets

    unused = ("column", "objects", "exclude", "features", *NOT_EVERYWHERE)
    _refuse(given, unused, "not with quadruplets; the columns are a, b, c, d")
    if given.model == "auto" or len(given.answers) > 1:
        raise InputError("--dialect quadruplets: takes one file and a named embedding, such as --model soe-2")
    four: Any = read_quadruplets(given.answers[0])
    return Loaded(four, ReadResult(four), None, {})


def _refuse(given: Given, names: Sequence[str], why: str) -> None:
    """An error where one of some options was given."""
    if wrong := [f"--{name.replace('_', '-')}" for name in names if getattr(given, name)]:
        raise InputError(f"{', '.join(wrong)}: {why}")


def _need_answers(given: Given, loaded: Loaded, n_answers: int) -> None:
    """An error where there is nothing to work on."""
    if n_answers:
        return
    why = f"there are no answers in {'it' if len(given.answers) == 1 else 'them'}"
    if any(loaded.excluded.values()):
        why = f"no answer is left without those of the {count(len(loaded.excluded), 'participant')} to be excluded"
    raise FileError(f"{', '.join(given.answers)}: {why}; at least one is needed")


def images_of(given: Given, loaded: Loaded) -> dict[int, Path]:
    """Index of an object -> its picture: from the folder, else as the object list says; none unless they are drawn."""
    if not draws(given.output):
        return {}
    from nearfar.report.pictures import find_pictures

    names, base = loaded.triplets.objects, None if given.objects is None else given.objects.parent
    files = find_pictures(names, given.images, listed=loaded.listed("images"), base=base).files
    return {x: files[name] for x, name in enumerate(names) if name in files}


def _landmarks(given: Given) -> list[str] | None:
    return None if given.landmarks is None else read_lines(given.landmarks, "object")


def _named(given: Given, loaded: Loaded, name: str) -> Any:
    """The space of a named model."""
    from nearfar.space import fit

    landmarks = _landmarks(given)
    if not given.features:
        return fit(loaded.triplets, name, landmarks=landmarks)
    from nearfar import evaluate  # which takes a second to import

    return evaluate.fit(loaded.triplets, name, landmarks=landmarks, features=load_features(given))


def _best(given: Given, loaded: Loaded, dimensions: int | None) -> tuple[Any, str, str]:
    """The space of the best model, lines about it, and a sentence for captions."""
    from nearfar.cli._choices import chosen
    from nearfar.evaluate import Analysis

    if given.landmarks is not None:
        raise InputError("--landmarks: they go with a kernel; name one, such as --model k1")
    analysis = Analysis(loaded.triplets, features=load_features(given), seed=given.seed)
    choice = chosen(given, analysis)
    name = choice.model if dimensions is None else choice.flat.get(dimensions, choice.model)
    headline, accuracy = choice.headline, choice.accuracy.get(name)
    if dimensions is not None and name != choice.model:
        share = "" if accuracy is None else f" ({percent(accuracy)})"
        best = "with" if accuracy is None else "the best with"
        headline += f"\nmap: {name}, {best} {count(dimensions, 'dimension')}{share}"
    told = "" if accuracy is None else f"{name} predicts {percent(accuracy)} of held-out answers."
    return analysis.fit(name), headline, told


def _in_blocks(given: Given) -> _InBlocks:
    """Count the answers in pieces where workers find them; Phi stays in blocks, here are only names of objects."""
    from types import SimpleNamespace

    import numpy as np

    from nearfar import scale
    from nearfar.io import ReadResult, read_objects
    from nearfar.space import parse_model
    from nearfar.triplets import Triplets

    parsed = None if given.model == "auto" else parse_model(given.model)
    if parsed is None or parsed.kernel is None or parsed.n_components is not None:
        way = "--dask and --scratch work with kernels; name one, such as --model score or --model k1"
        raise InputError(f"--model {given.model}: {way}")
    if given.features:
        raise InputError("--features: --dask and --scratch work with kernels, made of answers alone")
    way = "write the answers with  nearfar convert  first"
    _refuse(given, ("exclude", *NOT_EVERYWHERE), f"not with --dask or --scratch; {way}")
    if "-" in given.answers:
        raise InputError("- : with --dask or --scratch answers are files, not standard input")
    listing = None if given.objects is None else read_objects(given.objects)
    options: Any = {"dialect": given.dialect, "columns": named_columns(given.column), "on_bad": given.on_bad}
    answers = scale.read_triplets(list(given.answers), objects=listing, **options)
    none = np.empty(0, np.int32)
    triplets = Triplets(none, none, none, answers.objects)
    loaded = Loaded(triplets, ReadResult(triplets), listing, {})
    fitted = scale.FeatureMap(parsed.kernel, landmarks=_landmarks(given)).fit(answers)
    _need_answers(given, loaded, fitted.n_answers_)
    space = SimpleNamespace(phi=fitted.features_, model=parsed.kernel, diagonal=given.diagonal)
    return _InBlocks(loaded, space, "", images_of(given, loaded))
