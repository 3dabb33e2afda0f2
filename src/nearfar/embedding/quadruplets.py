"""Quadruplets, d(a, b) < d(c, d), in the loop of the embeddings: the losses ask for two squared distances, of any pairs."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from nearfar.embedding.loop import Loop, Merged, Points, losses_of
from nearfar.io.quadruplets import Quadruplets


def halves(given: Quadruplets, weights: Points | None) -> Merged:
    """Two rows for each, (a, b, nobody) and (c, nobody, d): what start and pull count; nobody is one object more."""
    a, b, c, d = given.array.T
    nobody = np.full(len(given), given.n_objects, np.int32)
    each = np.ones(len(given)) if weights is None else weights
    anchor, near, far = (np.concatenate(pair) for pair in ((a, c), (b, nobody), (nobody, d)))
    return Merged(anchor, near, far, np.concatenate([each, each]), given.n_objects + 1)


class PairLoop(Loop):
    """The sum of a loss over quadruplets, given as ``halves``, and its gradient."""

    def __init__(self, data: Merged, kind: int, parameter: float, n_components: int) -> None:
        super().__init__(data, kind, parameter, n_components)
        m, n = len(data.anchor) // 2, data.n_objects
        ends = (data.anchor[:m], data.near[:m]), (data.anchor[m:], data.far[m:])
        rows, signs = np.tile(np.arange(m), 2), np.repeat([1.0, -1.0], m)
        self._pairs = [csr_array((signs, (rows, np.concatenate(pair))), shape=(m, n)) for pair in ends]

    def __call__(self, points: Points) -> tuple[float, Points]:
        """The sum of the loss at ``points``, (n + 1, d), and its gradient."""
        gaps = [pairs @ points for pairs in self._pairs]
        near, far = (np.einsum("md,md->m", gap, gap) for gap in gaps)
        total = losses_of(self.kind, self.parameter, near, far, self.data.weight[: len(near)])
        slopes = zip(self._pairs, gaps, (near, far), strict=True)
        return total, sum(pairs.T @ (slope[:, None] * gap) for pairs, gap, slope in slopes)


def share_predicted(points: Points, given: Quadruplets) -> float:
    """Share of quadruplets that the points agree with; a tie counts 1/2."""
    a, b, c, d = (points[rows] for rows in given.array.T)
    signs = np.sign(((c - d) ** 2).sum(axis=1) - ((a - b) ** 2).sum(axis=1))
    return float((1 + signs).mean() / 2)
