"""What the five embeddings share: answers in, points out, new objects placed among fixed ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from operator import attrgetter
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from nearfar._tools.checks import check_count, generator
from nearfar._tools.threads import one_blas_thread
from nearfar.embedding import optimise as search
from nearfar.embedding.fitted import FittedPoints, check_positive, check_weights
from nearfar.embedding.left_open import left_open
from nearfar.embedding.loop import Loop, Merged, PairLoop, Points, halves, merge
from nearfar.embedding.optimise import Optimum, Pull
from nearfar.embedding.prior import Prior
from nearfar.errors import InputError
from nearfar.io.quadruplets import as_quadruplets
from nearfar.triplets import Triplets, as_triplets

Init = Literal["kernel", "random"]


@dataclass(eq=False, repr=False)
class Embedding(FittedPoints):
    """Base of GNMDS, CKL, STE, TSTE and SOE: points that minimise the sum of a loss over all answers.

    Parameters
    ----------
    n_components : dimensions of the points.
    regularization : strength of the pull to the centre (see Notes); 0 switches it off.
    init : "kernel" starts from a rank-based classical-scaling map of the answers, in one dimension also from the first axis
        of a plane; "random" from small random points. Or (n, n_components) points.
    n_init : how many starts to try; the lowest objective wins. The first is ``init``, further ones are random.
    max_iter : maximum number of iterations; if they do not suffice, there is a ``NotConverged`` warning.
    tol : it stops when an iteration improves the objective by less than this share of it.
    random_state : None, an integer or a numpy Generator; fixes the random starts.
    prior : what vectors say of the objects beforehand (``nearfar.embedding.prior``); ``nearfar.fit(answers, features=...)``
        makes it.

    Attributes
    ----------
    embedding_ : (n, n_components) points, centred, the widest axis first.
    objects_ : names of the n objects.
    loss_ : mean loss of an answer at ``embedding_``, the pull left out.
    n_iter_ : iterations of the best start.
    converged_ : whether it ended by ``tol``, not by ``max_iter``.
    uninformed_ : indices of the objects without an answer; they lie at the centre.
    uninformed_objects_ : their names.

    Notes
    -----
    What is minimised is the sum of the loss over all answers plus

        regularization * n * sqrt(k) * log(1 + q),

    with n informed objects, k answers per object, and q the mean squared length of the points on the loss's own
    scale: the logarithm of a normal prior whose width is learnt (``nearfar.embedding.optimise``). Without it, STE in five
    dimensions agrees with 98 % of the answers about musicians that it was fitted on and with 61 % of new ones; with it,
    with 67 % of new ones.

    Examples
    --------
    >>> from nearfar.embedding import SOE
    >>> line = [[0, 1, 2], [0, 2, 3], [0, 1, 3], [3, 2, 1], [3, 1, 0], [3, 2, 0], [1, 0, 3], [2, 3, 0]]
    >>> embedding = SOE(n_components=1, regularization=0.01).fit(line)
    >>> embedding.embedding_.shape, embedding.score(line)
    ((4, 1), 1.0)
    """

    n_components: int = 2
    _: KW_ONLY
    regularization: float = 1.0
    init: Init | ArrayLike = "kernel"
    n_init: int = 1
    max_iter: int = 1000
    tol: float = 1e-5
    random_state: Any = None
    prior: Prior | None = None

    _kind: ClassVar[int]
    _own: ClassVar[str] = ""  # name of the loss's own number

    def __init_subclass__(cls, **options: Any) -> None:
        """The description of each ends with its own parameters; those that all share follow."""
        super().__init_subclass__(**options)
        if cls.__doc__ and "Parameters" in cls.__doc__:
            shared = (Embedding.__doc__ or "").partition("----------\n")[2].replace("SOE", cls.__name__)
            cls.__doc__ = f"{cls.__doc__.rstrip()}\n{shared}"

    def _parameter(self) -> float:
        """The loss's own number."""
        return float(getattr(self, self._own)) if self._own else 0.0

    def _radius(self) -> float:
        """Root mean square length of the points that the search starts from."""
        return 0.5 * self._scale()[0] or 1.0

    def _scale(self) -> tuple[float, float]:
        """The length that the loss measures points with, and the loss that goes with it."""
        return 1.0, 1.0

    # ---------------------------------------------------------------- fitting

    def fit(
        self, answers: Triplets | ArrayLike, y: object = None, sample_weight: ArrayLike | None = None
    ) -> Embedding:
        """Find points that agree with the answers: Triplets, Quadruplets, or an (m, 3) or (m, 4) array of indices.

        ``sample_weight`` : (m,) how much each answer counts; 2 counts as an answer given twice.
        """
        if hasattr(answers, "pieces") or hasattr(answers, "__dask_graph__"):
            way_out = "read the answers with nearfar.read_triplets, or use nearfar.scale.FeatureMap"
            raise InputError(f"answers: embeddings are for one machine; {way_out}")
        four: Any = as_quadruplets(answers)
        if four is not None and self.prior is not None:
            raise InputError("prior: vectors go with triplets; fit quadruplets without them")
        answers = as_triplets(answers) if four is None else four
        self._check(answers)
        sample_weight, n = check_weights(sample_weight, len(answers)), answers.n_objects
        data = merge(answers, sample_weight) if four is None else halves(four, sample_weight)
        counts = search.answers_per_object(data)[:n]
        informed = np.flatnonzero(counts)
        self._emphasis = search.Emphasis.of(data) if four is None else search.Emphasis(1.0, 0.0)
        pull, prior = None, self.prior
        if self.regularization > 0:
            weights = self._emphasis(counts[informed])
            if prior is not None:
                weights = np.concatenate([self._emphasis(counts), np.ones(prior.basis.shape[1])])
            mean = counts[informed].mean()
            pull = search.LearntPull(self.regularization, weights, mean, *self._scale(), len(informed))
        kind = Loop if four is None else PairLoop
        loop = kind(data, self._kind, self._parameter(), self.n_components)
        with one_blas_thread():
            starts = self._starts(loop, informed, pull)
            tries = (self._optimise(loop, start, informed, pull, prior) for start in starts)
            best = min(tries, key=attrgetter("objective"))
            if prior is not None:
                informed = np.flatnonzero((counts > 0) | prior.known)
            self.loss_ = loop(best.points)[0] / data.weight.sum() * (1 if four is None else 2)
            self.embedding_, self._centre, self._axes = _canonical(best.points[:n], informed)
        self.objects_ = answers.objects
        self.n_iter_, self.converged_ = best.n_iter, best.converged
        self._informed = np.isin(np.arange(n), informed)
        self._coefficients: Any = best.coefficients
        self._open: float | None = None
        self._fitted_to: Any = None if prior is None else (answers, sample_weight)
        at = self.embedding_[informed] if best.coefficients is None else best.coefficients
        self._strength = 0.0 if pull is None else pull.strength(at)
        self._warn_of_uninformed()
        self._warn_unless_converged(best)
        return self

    def _starts(self, loop: Loop, informed: NDArray[np.intp], pull: Pull | None) -> Iterator[Points]:
        shape = (loop.data.n_objects, self.n_components)
        rng = generator(self.random_state, "random_state")  # checked even where nothing is drawn
        n_init = self.n_init
        size = 0.1 * self._radius() / np.sqrt(self.n_components)  # small: all answers pull from the beginning
        if isinstance(loop, PairLoop):  # of quadruplets, the start from the answers is rough
            n_init, rng = max(n_init, 4), rng if self.random_state is not None else generator(0)
        if not isinstance(self.init, str):
            start = np.asarray(self.init, dtype=np.float64)
            if start.shape != shape or not np.isfinite(start).all():
                wanted = f"'kernel', 'random', or finite points of shape {shape}"
                raise InputError(f"init: got an array of shape {start.shape}, expected {wanted}")
            yield start
        elif self.init == "kernel":
            yield search.kernel_start(loop.data, informed, self.n_components) * self._radius()
            if self.n_components == 1 and self.prior is None:  # objects cannot pass each other on a line
                plane = type(loop)(loop.data, self._kind, self._parameter(), 2)
                start = search.kernel_start(loop.data, informed, 2) * self._radius()
                flat = _canonical(self._optimise(plane, start, informed, pull).points, informed)[0]
                yield flat[:, :1].copy()
        else:
            n_init += 1
        for _ in range(n_init - 1):
            yield size * rng.normal(size=shape)

    def _optimise(
        self, loop: Loop, start: Points, free: NDArray[np.intp], pull: Pull | None, prior: Prior | None = None
    ) -> Optimum:
        limits: Any = {"max_iter": self.max_iter, "tol": float(self.tol), "name": type(self).__name__}
        return search.optimise(loop, start, free, pull=pull, prior=prior, **limits)

    # ---------------------------------------------------------------- new objects

    def place(self, features: Any) -> Placed:
        """Objects that nobody was asked about, at the positions that their vectors give them.

        ``features`` : their vectors, from the sources that the prior was made of.
        """
        check_is_fitted(self, "embedding_")
        if self.prior is None:
            without = "no vectors enter this model: there were none, or they were not clearly of use"
            raise InputError(f"place: {without}; fit one with features=")
        names, rows = self.prior.vectors.others(features)
        basis, own = self.prior.basis_of(rows)
        return Placed(names, self._points_of(basis), self._left_open(own))

    def _points_of(self, basis: Points) -> Points:
        """Where the rows of B put objects."""
        return np.asarray((basis @ self._coefficients[len(self.embedding_) :] - self._centre) @ self._axes)

    @property
    def spread_(self) -> NDArray[np.float64]:
        """(n,) standard deviation of a coordinate that the vector of an object leaves open; what its answers add is not counted."""
        check_is_fitted(self, "embedding_")
        unknown = np.full(len(self.embedding_), np.nan)
        return unknown if self.prior is None else self._left_open(self.prior.own)

    def _left_open(self, own: Points) -> NDArray[np.float64]:
        """What left-out objects leave open, and where their own parts are larger than those, what the prior adds."""
        prior: Any = self.prior
        if self._open is None:
            self._open = left_open(self, *self._fitted_to)
        width = np.mean(self.embedding_[self._informed] ** 2)
        more = np.maximum(own[:, 0] ** 2 - np.mean(prior.own[prior.known] ** 2), 0.0)
        return np.asarray(np.sqrt((self._open + more) * width))

    def _placed(self, data: Merged, points: Points, free: NDArray[np.intp]) -> Optimum:
        weights = self._emphasis(search.answers_per_object(data)[free])
        loop = Loop(data, self._kind, self._parameter(), self.n_components)
        return self._optimise(loop, points, free, search.steady_pull(self._strength * weights))

    def _check(self, answers: Triplets) -> None:
        check_count(self.n_components, "n_components")
        super()._check(answers)
        check_count(self.n_init, "n_init")
        check_positive(self.tol, "tol")
        if self._own and getattr(self, self._own) is not None:
            check_positive(getattr(self, self._own), self._own, zero=self._own == "mu")
        if isinstance(self.init, str) and self.init not in get_args(Init):
            raise InputError(f"init must be 'kernel', 'random' or points, got {self.init!r}")
        if self.prior is not None and self.regularization == 0:
            raise InputError("prior: needs regularization > 0")


class Placed(NamedTuple):
    """``points`` (n, d) of ``objects`` that nobody was asked about; ``spread`` : (n,) standard deviation of each coordinate."""

    objects: tuple[str, ...]
    points: Points
    spread: NDArray[np.float64]


def _canonical(points: Points, informed: NDArray[np.intp]) -> tuple[Points, Points, Points]:
    """The same shape centred, widest axis first, the coordinate of largest size positive; so reruns and pictures agree.

    Also what was taken off every point, and what it was then multiplied by.
    """
    centre = points[informed].mean(axis=0)
    shape = points[informed] - centre
    axes = np.linalg.svd(shape.T @ shape)[2].T
    shape = shape @ axes
    signs = np.where(shape[np.abs(shape).argmax(axis=0), np.arange(shape.shape[1])] < 0, -1.0, 1.0)
    placed = np.zeros_like(points)
    placed[informed] = shape * signs
    return placed, centre, axes * signs
