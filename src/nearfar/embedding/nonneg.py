"""Sparse non-negative dimensions (Zheng et al. 2019, Hebart et al. 2020): what objects have in common adds up."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar._tools.arrays import Floats, dense_codes
from nearfar._tools.checks import check_count, generator
from nearfar._tools.threads import one_blas_thread
from nearfar.embedding.choices import ChoiceLoop
from nearfar.embedding.fitted import FittedPoints, check_positive, check_weights
from nearfar.embedding.loop import Merged, Points
from nearfar.embedding.optimise import Optimum, answers_per_object, optimise
from nearfar.embedding.prior import Prior
from nearfar.triplets import Triplets, as_triplets

LADDER = (2, 5, 12, 30, 80)  # numbers of dimensions that are tried, where there are more objects
WIDTH = 0.1  # mean square of a dimension below which the learnt pull hardly grows: it has a slope at 0


@dataclass(eq=False, repr=False)
class NonNegative(FittedPoints):
    """Non-negative coordinates whose inner products are the similarities: dimensions one can name.

    Loss of a choice among pairs of objects, s the inner product of a pair:

        -log e^s(chosen) / sum over pairs e^s

    An odd-one-out is a choice among three pairs, a triplet among two, and every pick of a grid is one among the pair
    picked and those not picked. To the sum of losses over n objects with k choices each,

        sqrt(k) * (sparsity * sum x + regularization * n * sum over dimensions sqrt(q + 0.1))

    is added, q the mean square of a dimension (a sparse group lasso). The pull is learnt: what a square costs falls as answers
    support a dimension, and those that they do not support are left empty.

    Parameters
    ----------
    n_components : dimensions, at most: those that answers do not support are left empty. None: as many as make held-out
        choices likelier, a fifth of the trios (of the statements, where they span trios) held out.
    regularization, sparsity : strength of the learnt pull to 0, and of the absolute one.
    max_iter, tol : of L-BFGS-B, as for ``Embedding``.
    random_state : None, an integer or a numpy Generator; fixes the start.
    prior : vectors of the objects, as for ``Embedding``: q is then ``x' K^-1 x / n`` with K the covariance that they give, so that
        objects with similar vectors have similar coordinates unless answers say otherwise.

    Attributes
    ----------
    embedding_ : (n, n_components) coordinates >= 0, the dimension that explains most similarity first.
    loss_ : mean loss of a choice.
    objective_ : the sum of losses and of what is added; of several starts with as many dimensions the lowest is the best.
    regularization_ : two thirds of ``regularization`` where the number of dimensions is chosen and that makes held-out choices likelier.
    objects_, n_iter_, converged_, uninformed_, uninformed_objects_ : as for ``Embedding``.

    Notes
    -----
    Similarity is not a distance: ``predict`` and ``score`` go by inner products. The method is SPoSE (Zheng, Pereira,
    Baker and Hebart, 2019; Hebart et al., 2020). The likelihood by distinct pairs, the bounded quasi-Newton search and
    the learnt pull are ours.

    Examples
    --------
    >>> from nearfar.embedding import NonNegative
    >>> pairs = [[0, 1, 2], [1, 0, 3], [2, 3, 0], [3, 2, 1], [0, 1, 3], [1, 0, 2], [2, 3, 1], [3, 2, 0]] * 5
    >>> points = NonNegative(2).fit_transform(pairs)
    >>> bool(points.min() >= 0), (points > 0.1).sum(axis=0).tolist()
    (True, [2, 2])
    """

    n_components: int | None = None
    _: KW_ONLY
    regularization: float = 0.19
    sparsity: float = 0.04
    max_iter: int = 1000
    tol: float = 2e-5
    random_state: Any = 0
    prior: Prior | None = None

    similarity: ClassVar[str] = "product"  # what a space of these points predicts by

    def fit(
        self, answers: Triplets | ArrayLike, y: object = None, sample_weight: ArrayLike | None = None
    ) -> NonNegative:
        """Find the coordinates (of Triplets, or an (m, 3) array of indices).

        ``sample_weight`` : (m,) how much each answer counts; a statement counts as its answers do on average.
        """
        answers = as_triplets(answers)
        self._check(answers)
        weights = check_weights(sample_weight, len(answers))
        with one_blas_thread():
            self.regularization_ = self.regularization
            dimensions = self.n_components or self._dimensions(answers, weights)
            loop = ChoiceLoop(answers, weights)
            best = self._fit(loop, dimensions)
        self.embedding_ = points = best.points[:, np.argsort(-shares(best.points), kind="stable")]
        self._informed, self.objects_ = self._known(loop), answers.objects
        self.loss_ = loop(points)[0] / loop.choices.weight.sum()
        self.n_iter_, self.converged_, self.objective_ = best.n_iter, best.converged, best.objective
        self._warn_of_uninformed()
        self._warn_unless_converged(best)
        return self

    def _fit(self, loop: ChoiceLoop, dimensions: int) -> Optimum:
        """The optimum from a random start."""
        known = self._known(loop)
        self._strength = float(np.sqrt(3 * loop.choices.weight.sum() / known.sum()))
        # on the scale of log odds, so that every answer pulls from the beginning
        size = known[:, None] * 3.4 / np.sqrt(dimensions)
        start = generator(self.random_state, "random_state").random((len(known), dimensions)) * size
        return self._optimise(loop, start, np.flatnonzero(known), self.prior)

    def _known(self, loop: ChoiceLoop) -> NDArray[np.bool_]:
        """(n,) objects with an answer, or with a vector in the prior."""
        known: NDArray[np.bool_] = answers_per_object(loop.data) > 0
        return known if self.prior is None else known | self.prior.known

    def _dimensions(self, answers: Triplets, weights: Floats | None) -> int:
        """The number of ``LADDER`` by which held-out choices are likeliest; a worse one, or one half of it empty, ends the search.

        With that number a weaker pull is tried, too.
        """
        units, statements = dense_codes(answers.trio_ids), dense_codes(answers.statement_ids)
        if (np.bincount(statements) > 2).any():
            units = statements
        test = np.random.default_rng(0).random(units.max() + 1)[units] < 0.2
        if test.all() or not test.any():
            return 1
        given = np.ones(len(answers)) if weights is None else weights
        train, held_out = ChoiceLoop(answers[~test], given[~test]), ChoiceLoop(answers[test], given[test])
        best, lowest = 1, np.inf
        for dimensions in LADDER[: int(np.searchsorted(LADDER, answers.n_objects))]:
            points = self._fit(train, dimensions).points
            if (loss := held_out(points)[0]) >= lowest:
                break
            best, lowest = dimensions, loss
            if 2 * points.any(axis=0).sum() <= dimensions:
                break
        self.regularization_ = self.regularization / 1.5
        if held_out(self._fit(train, best).points)[0] >= lowest:
            self.regularization_ = self.regularization
        return best

    def _optimise(
        self, loop: ChoiceLoop, start: Points, free: NDArray[np.intp], prior: Prior | None = None
    ) -> Optimum:
        n = len(free) + int(np.delete(start, free, axis=0).any(axis=1).sum())
        fixed = (np.delete(start, free, axis=0) ** 2).sum(axis=0)
        learnt, plain = self.regularization_ * self._strength, self.sparsity * self._strength
        solve: Any = np.array
        if prior is not None:
            # vectors are centred, and points that are not negative have a level: a constant is as free as they are
            basis = np.hstack([prior.basis, np.ones((len(start), 1))])
            solve = replace(prior, basis=basis).precision(free)

        def pull(x: Points) -> tuple[float, Points]:
            slope = solve(x)
            size = np.sqrt((fixed + np.einsum("nc,nc->c", x, slope)) / n + WIDTH)
            return learnt * n * float(size.sum()) + plain * float(x.sum()), learnt / size * slope + plain

        limits: Any = {"max_iter": self.max_iter, "tol": float(self.tol), "name": "NonNegative"}
        return optimise(loop, start, free, pull=pull, bounds=(0, None), **limits)

    def _placed(self, data: Merged, points: Points, free: NDArray[np.intp]) -> Optimum:
        """Answer by answer: nobody knows which of them were one statement."""
        answers = Triplets(data.anchor, data.near, data.far, tuple(map(str, range(len(points)))))
        return self._optimise(ChoiceLoop(answers, data.weight), points, free)

    def _similarity(self, one: Floats, other: Floats) -> Floats:
        return np.asarray(np.einsum("tc,tc->t", one, other))

    def _check(self, answers: Triplets) -> None:
        if self.n_components is not None:
            check_count(self.n_components, "n_components")
        super()._check(answers)
        check_positive(self.tol, "tol")
        check_positive(self.sparsity, "sparsity", zero=True)


def shares(points: Points) -> Floats:
    """(d,) the share of the similarity of all pairs of objects that each dimension makes up; 0 where there is none.

    >>> shares(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 3.0]])).round(2)
    array([0.25, 0.75])
    """
    between = points.sum(axis=0) ** 2 - (points**2).sum(axis=0)
    total = float(between.sum())
    return np.asarray(between / total if total > 0 else np.zeros_like(between))
