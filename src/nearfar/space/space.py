"""Space: what a model makes of answers, a row per object, and everything that follows from the rows."""

from __future__ import annotations

import difflib
import html
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
import scipy
from numpy.typing import ArrayLike, NDArray

from nearfar import methods
from nearfar._tools.arrays import Floats
from nearfar._tools.checks import Seed, check_count
from nearfar._tools.memory import check_points, check_square
from nearfar.blocks import join
from nearfar.errors import InputError
from nearfar.kernel import ShiftedKernel, shifted_kernel, smallest_eigenvalue
from nearfar.kernel.phi import check_finite, entries_per_row
from nearfar.kernel.shift import check_diagonal
from nearfar.space.margins import dot_margins, lawful_margins, nearest_points, phi_margins, point_margins
from nearfar.space.results import Clusters, Predictions, Similar, as_clusters, as_questions
from nearfar.triplets import Triplets, as_triplets, mentioned, positions

if TYPE_CHECKING:
    from nearfar.design import Questions
    from nearfar.embedding.base import Placed

SpaceKind = Literal["kernel", "points"]
Diagonal = Literal["shift", "keep"]
Similarity = Literal["distance", "product"]


class Space:
    """A row per object, and what follows from the rows: each computed once, and only when asked for.

    There are two kinds. The rows of a *kernel* are features Phi of unit length, K = Phi Phi' and its diagonal is
    reduced by the smallest eigenvalue. *Points* are coordinates (an embedding, a kernel's PCA, anything an
    estimator gives); their position and scale mean nothing, so K is that of the points centred and scaled to a
    mean squared length of 1. In both, distances are ``sqrt(K_xx + K_yy - 2 K_xy)``, and the similarity of two
    objects is 1 - d^2 / 2, which for a kernel is the kernel value (before the shift).

    Parameters
    ----------
    rows : (n, p) ndarray or csr_array.
    objects : names of the n rows; default "0", "1", ...
    kind : "kernel" or "points".
    informed : (n,) whether anything is known about the object; default: its row of a kernel is not zero, all points.
    model : the name of the model that made it.
    estimator : what was fitted, for ``extend``: it has ``transform(answers)``.
    diagonal : "shift" or "keep": whether maps, clusters and trees of a kernel are those of the shifted K.
    similarity : what points predict answers by: "distance", or the inner "product" of non-negative dimensions, whose maps,
        clusters and trees are those of the points scaled to length 1 each.
    placed : (n,) objects that nobody was asked about, at the position of their vector; default: none.

    Examples
    --------
    >>> answers = [[0, 1, 2], [0, 1, 3], [1, 0, 2], [2, 3, 0], [3, 2, 1], [1, 0, 3], [2, 3, 1]]
    >>> from nearfar.space import fit
    >>> space = fit(answers, "score")
    >>> space.neighbours("0", 1).names, space.clusters(2, seed=0).labels.tolist()
    (('1',), [0, 0, 1, 1])
    >>> space.predict([[0, 3, 1]]).triplets.array.tolist()
    [[0, 1, 3]]
    """

    def __init__(
        self, rows: Any, objects: Sequence[str] | None = None, *, kind: SpaceKind,
        informed: NDArray[np.bool_] | None = None, model: str = "", estimator: Any = None,
        diagonal: Diagonal = "shift", similarity: Similarity = "distance",
        placed: NDArray[np.bool_] | None = None,
    ) -> None:  # fmt: skip
        if getattr(rows, "ndim", 0) != 2:
            raise InputError(f"rows: expected one row per object, got shape {np.shape(rows)}")
        n = int(rows.shape[0])
        self.objects = tuple(map(str, range(n))) if objects is None else tuple(objects)
        if len(self.objects) != n:
            raise InputError(f"rows: got {n} rows for {len(self.objects)} objects, expected one per object")
        self.rows = rows
        self.kind = kind
        self.model = model or kind
        self.estimator = estimator
        self.diagonal = diagonal
        self.similarity = similarity
        self.find_dimensions: Callable[..., Any] | None = None
        if informed is None:
            informed = entries_per_row(rows) > 0 if kind == "kernel" else np.ones(n, dtype=bool)
        self.informed = np.asarray(informed, dtype=bool)
        self.placed = np.zeros(n, dtype=bool) if placed is None else placed
        self._made: dict[tuple[Any, ...], Any] = {}

    @classmethod
    def of_points(cls, points: ArrayLike, objects: Sequence[str] | None = None) -> Space:
        """The space of coordinates that somebody brings, one row per object.

        >>> Space.of_points([[0.0], [1.0], [3.0]]).predict([[0, 1, 2], [1, 2, 0]]).margin
        array([ 8., -3.])
        """
        return cls(np.asarray(points, dtype=np.float64), objects, kind="points")

    def __repr__(self) -> str:
        missing = f", {len(self.uninformed)} uninformed" if len(self.uninformed) else ""
        return f"Space({self.model!r}, {len(self.objects)} objects{missing})"

    def __len__(self) -> int:
        return len(self.objects)

    def to_frame(self, n_components: int = 2) -> Any:
        """Columns object, informed and x1, x2, ..., the coordinates of ``map``, as a polars data frame.

        >>> Space.of_points([[0.0], [1.0]], ("fig", "plum")).to_frame(1).rows()
        [('fig', True, 0.0), ('plum', True, 1.0)]
        """
        points = {f"x{c + 1}": column for c, column in enumerate(self.map(n_components).T)}
        return pl.DataFrame({"object": list(self.objects), "informed": self.informed, **points})

    def _repr_html_(self) -> str:
        """What a notebook shows: the first rows of the map."""
        return f"<p>{html.escape(repr(self))}</p>{self.to_frame()._repr_html_()}"

    # ---------------------------------------------------------------- what is known

    @cached_property
    def uninformed(self) -> NDArray[np.intp]:
        """Indices of the objects nothing is known about."""
        return np.flatnonzero(~self.informed)

    @property
    def uninformed_objects(self) -> tuple[str, ...]:
        """Names of the objects nothing is known about."""
        return tuple(self.objects[x] for x in self.uninformed)

    @property
    def n_components(self) -> int | None:
        """Dimensions of points; None for a kernel, whose columns are not dimensions to look at."""
        return int(self.rows.shape[1]) if self.kind == "points" else None

    @cached_property
    def shift(self) -> float:
        """What is taken off the diagonal of K: its smallest eigenvalue over informed objects; 0 for points."""
        if self.kind == "points" or not self.informed.any():
            return 0.0
        return self._kernel.shift if "_kernel" in self.__dict__ else smallest_eigenvalue(self.rows)

    # ---------------------------------------------------------------- K and distances

    def kernel(self, diagonal: Diagonal = "shift") -> NDArray[Any]:
        """(n, n) K, with the shift taken off the diagonal of informed objects or not; rows of others are 0."""
        shifted = check_diagonal(diagonal)
        K = self._kernel.matrix.copy()
        if not shifted:
            K[self.informed, self.informed] += self._kernel.shift
        return K

    @cached_property
    def _kernel(self) -> ShiftedKernel:
        if self.kind == "kernel":
            return shifted_kernel(self.rows)
        return shifted_kernel(self._scaled, diagonal="keep")

    def distances(self, diagonal: Diagonal = "shift") -> Floats:
        """(n, n) distances ``sqrt(K_xx + K_yy - 2 K_xy)``; NaN for uninformed objects."""
        if self.kind == "points":
            check_square(len(self), 8)
            apart = scipy.spatial.distance
            result = apart.squareform(apart.pdist(self._scaled))
        else:
            K = self.kernel(diagonal).astype(np.float64, copy=False)
            result = K.diagonal()[:, None] + K.diagonal() - 2 * K
            np.fill_diagonal(result, 0.0)
            np.sqrt(np.maximum(result, 0.0, out=result), out=result)
        result[self.uninformed] = result[:, self.uninformed] = np.nan
        return np.asarray(result)

    # ---------------------------------------------------------------- maps, trees, clusters

    def map(self, n_components: int = 2) -> Floats:
        """(n, n_components) coordinates: those of points with so many dimensions, else by (kernel) PCA.

        Uninformed objects lie where nothing pulls them: at the centre of points, at the zero row of a kernel.
        """
        if not self.informed.any():
            check_points(len(self), n_components)
            return np.zeros((len(self), n_components))
        if self.kind == "points" and self.rows.shape[1] == n_components:
            return np.array(self.rows, dtype=np.float64)
        return np.asarray(self.pca(n_components).embedding_, dtype=np.float64)

    def pca(self, n_components: int = 2) -> Any:
        """The fitted kernel PCA of the rows, with the attributes and the ``transform`` of ``KernelPCA``."""
        axes = methods.PrincipalAxes(n_components, diagonal=self._diagonal)
        return self._once(("pca", n_components), lambda: axes.fit(self._working))

    def tree(self, method: str = "complete") -> methods.Tree:
        """The tree by complete, average or single linkage on the distances, in SciPy's format."""
        tree: methods.Tree = self._once(("tree", method), lambda: self._tree(method)).copy()
        return tree

    def _tree(self, method: str) -> methods.Tree:
        if self.kind == "kernel" or len(self) < 2:
            return methods.linkage(self.rows, method, diagonal=self._diagonal)
        Z = methods.link_points(self._scaled[self.informed], method)
        return methods.with_uninformed(Z, np.flatnonzero(self.informed), self.uninformed)

    def cluster_tree(self, n_leaves: int, method: str = "complete", *, seed: Seed = 0) -> methods.ClusterTree:
        """Cluster first, then link so many clusters: for more objects than their distances fit into memory."""
        return methods.link_clusters(self._working, n_leaves, method, diagonal=self._diagonal, seed=seed)

    def clusters(self, n_clusters: int, *, n_init: int = 10, seed: Seed = 0) -> Clusters:
        """Clusters by kernel k-means, with the medoid of each."""
        method = methods.KernelKMeans(n_clusters, n_init=n_init, diagonal=self._diagonal, random_state=seed)
        fitted = method.fit(self._working)
        return as_clusters(fitted, fitted.labels_, self.medoids(fitted.labels_), self.objects)

    def medoids(self, labels: ArrayLike | None = None) -> methods.Medoids:
        """The object with the smallest mean squared distance to its fellows, of every cluster or of all objects."""
        return methods.medoid(self._working, labels)

    # ---------------------------------------------------------------- neighbours and outliers

    def neighbours(self, name: str, n_neighbors: int = 5) -> Similar:
        """What is most similar to one object, nearest first; ``print`` shows a short table."""
        x = self.index(name)
        if not self.informed[x]:
            raise InputError(f"{name!r} is uninformed: no usable answer concerns it")
        known = np.flatnonzero(self.informed)
        at = int(np.searchsorted(known, x))
        k = min(check_count(n_neighbors, "n_neighbors"), len(known) - 1)
        near, values = self._nearest_to(np.array([at]), min(k + 1, len(known)), itself=False)
        others = np.flatnonzero(near[0] != at)[:k]
        names = tuple(self.objects[y] for y in known[near[0, others]])
        return Similar(self.objects[x], names, tuple(values[0, others].tolist()), self.uninformed_objects)

    def nearest(self, n_neighbors: int = 5) -> methods.Neighbours:
        """The nearest neighbours of every object, and their similarities 1 - d^2 / 2."""
        k = min(check_count(n_neighbors, "n_neighbors"), int(self.informed.sum()) - 1)
        nearest: methods.Neighbours = self._once(("nearest", k), lambda: self._nearest(k))
        return nearest

    def _nearest(self, k: int) -> methods.Neighbours:
        known = np.flatnonzero(self.informed)
        indices = np.full((len(self), max(k, 0)), -1, dtype=np.intp)
        values = np.full(indices.shape, np.nan)
        if k > 0:
            near, values[known] = self._nearest_to(np.arange(len(known)), k, itself=True)
            indices[known] = known[near]
        return methods.Neighbours(indices, values, self.uninformed)

    def _nearest_to(self, chosen: NDArray[np.intp], k: int, *, itself: bool) -> tuple[NDArray[Any], Floats]:
        """(c, k) the nearest of the informed objects to the chosen of them, and their similarities."""
        if self.kind == "points":
            return nearest_points(self._scaled[self.informed], chosen, k, itself=itself)
        rows = self.rows if self.informed.all() else self.rows[self.informed]
        return methods.nearest_among(rows[chosen], rows, k, itself=itself)

    def outliers(self, n_neighbors: int = 10) -> methods.Outliers:
        """Objects that are similar to none: by 1 minus the mean similarity to their nearest neighbours."""
        return methods.find_outliers(self.nearest(n_neighbors), entries_per_row(self.rows))

    def index(self, name: str) -> int:
        """The index of an object; an error that names similar ones where there is none of this name."""
        if str(name) in self.objects:
            return self.objects.index(str(name))
        close = difflib.get_close_matches(str(name), self.objects, n=3)
        hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
        raise InputError(f"{str(name)!r} is not among the {len(self)} objects{hint}")

    def take(self, chosen: ArrayLike) -> Space:
        """The space of some of the objects, by index; the scale of points is that of the chosen ones."""
        at = np.asarray(chosen, dtype=np.intp)
        if len(at) == len(self) and np.array_equal(at, np.arange(len(self))):
            return self
        names, known = tuple(self.objects[x] for x in at), self.informed[at]
        return self._with(rows=self.rows[at], objects=names, informed=known, placed=self.placed[at])

    # ---------------------------------------------------------------- answers

    def margins(
        self, anchor: NDArray[Any], one: NDArray[Any], other: NDArray[Any], *, by_law: bool = False
    ) -> Floats:
        """(m,) ``|a - other|^2 - |a - one|^2``: positive where ``one`` is nearer, 0 for a tie or an unknown object.

        Where similarity is the inner product, ``a.one - a.other``. ``by_law`` : on the scale that the model's answers go by,
        which SOE and CKL have of their own (``lawful_margins``).
        """
        if by_law and (law := getattr(self.estimator, "law", "")):
            margin = lawful_margins(self.rows, law, getattr(self.estimator, "mu", 0.0), anchor, one, other)
        else:
            by = phi_margins if self.kind == "kernel" else point_margins
            margin = (dot_margins if self.similarity == "product" else by)(self.rows, anchor, one, other)
        margin[~(self.informed[anchor] & self.informed[one] & self.informed[other])] = 0
        return margin

    def predict(self, questions: Triplets | Questions | ArrayLike) -> Predictions:
        """The answers that this space expects.

        ``questions`` : (m, 3) rows (anchor, one, other) of indices or of names; ``nearfar.design`` questions; or
        Triplets, whose answers do not matter. Objects with names are matched by name.
        """
        asked = as_questions(questions, self.objects)
        return Predictions(asked, self.margins(asked.anchor, asked.near, asked.far))

    def credits(self, answers: Triplets | ArrayLike) -> Floats:
        """(m,) 1 where the space expects the answer, 0 where it expects the other one, 0.5 for a tie.

        Objects are matched as by ``predict``: by name where there are names.
        """
        return (1 + np.sign(self.predict(answers).margin)) / 2

    def score(self, answers: Any) -> float:
        """Share of the answers that the space expects, a tie counted one half; NaN without answers.

        >>> Space.of_points([[0.0], [1.0], [3.0]]).score([[0, 1, 2], [1, 2, 0]])
        0.5
        """
        return float(self.credits(answers).mean()) if len(answers) else float("nan")

    def extend(self, answers: Triplets | ArrayLike) -> Space:
        """This space with the new objects of these answers in it, placed by them; nothing is fitted again."""
        if not hasattr(self.estimator, "transform"):
            cannot = f"{self.model} cannot place new objects, it has no transform"
            raise InputError(f"extend: {cannot}; fit it again with all answers")
        new = as_triplets(answers, self.objects)
        fresh = np.flatnonzero(positions(new.objects, self.objects) < 0)
        rows, known = self.estimator.transform(new)[fresh], mentioned(new)
        if self.kind == "kernel":
            known[fresh] &= entries_per_row(rows) > 0
        names = (*self.objects, *(new.objects[x] for x in fresh))
        known = np.append(self.informed, known[fresh])
        placed = np.append(self.placed, np.zeros(len(fresh), dtype=bool))
        return self._with(rows=join([self.rows, rows]), objects=names, informed=known, placed=placed)

    def dimensions(self, **options: Any) -> Any:
        """The dimensions of a non-negative space that ``nf.fit`` made: as ``nf.find_dimensions``, the likeliest of three starts."""
        if self.find_dimensions is None:
            raise InputError(f"dimensions: {self.model} has none to name; fit 'nonneg' or 'nonneg-20'")
        return self.find_dimensions(**options)

    @property
    def shares(self) -> dict[str, float]:
        """The share of the prior that each source of vectors has; empty where no vectors enter."""
        prior = getattr(self.estimator, "prior", None)
        return {} if prior is None else dict(prior.shares)

    def place(self, features: Any) -> Placed:
        """Objects that nobody was asked about, where their vectors put them; nothing that was fitted changes.

        ``features`` : their vectors, from the sources that the space was fitted with. ``spread`` of the result is the standard
        deviation of a coordinate: what vectors leave open, by objects left out of the answers (five smaller fits, once).
        """
        if not hasattr(self.estimator, "place"):
            way_out = "fit an embedding such as 'soe-5' with features="
            raise InputError(f"place: {self.model} does not place objects by vectors; {way_out}")
        placed: Placed = self.estimator.place(features)
        return placed

    # ---------------------------------------------------------------- inside

    def _with(self, **changed: Any) -> Space:
        """This space with other rows."""
        names = ("rows", "objects", "kind", "informed", "model", "estimator", "diagonal", "similarity")
        return Space(**{name: getattr(self, name) for name in names} | changed)

    def _once(self, key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    @property
    def _diagonal(self) -> str:
        return self.diagonal if self.kind == "kernel" else "keep"

    @cached_property
    def _scaled(self) -> Floats:
        """Points centred and scaled to a mean squared length of 1 over informed objects; 0 for the others."""
        points = np.zeros((len(self), self.rows.shape[1]))
        rows = np.asarray(self.rows, dtype=np.float64)[self.informed]
        check_finite(rows)
        if self.similarity == "product":
            rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.finfo(float).tiny)
        if len(rows):
            rows = rows - rows.mean(axis=0)
            size = np.sqrt(np.mean(np.sum(rows**2, axis=1)))
            points[self.informed] = rows / size if size > 0 else rows
        return points

    @cached_property
    def _working(self) -> Any:
        """Rows for the methods, which take a zero row for an uninformed object.

        Points get a column of ones: distances do not see it, and no informed object is a zero row.
        """
        if self.kind == "kernel":
            return self.rows
        return np.hstack([self._scaled, self.informed[:, None].astype(np.float64)])
