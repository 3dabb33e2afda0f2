"""What a space says: clusters, the most similar objects, expected answers; and questions by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from nearfar import methods
from nearfar.design import Questions
from nearfar.errors import InputError
from nearfar.triplets import Triplets, mentioned, positions


@dataclass(frozen=True, eq=False)
class Clusters:
    """A partition of the objects.

    Attributes
    ----------
    labels : (n,) cluster of every object, numbered by size, the largest 0. An uninformed object gets the cluster
        nearest to the centre of the space; ``uninformed`` lists them.
    sizes : (k,) informed objects in every cluster.
    medoids : (k,) the most typical object of every cluster, -1 for an empty one.
    inertia : sum of squared distances of the informed objects to the centres of their clusters.
    uninformed : indices of the objects nothing is known about.
    objects : names of the objects; empty where they are not known.

    Examples
    --------
    >>> from nearfar.space import Space
    >>> clusters = Space.of_points([[0.0], [1.0], [8.0]]).clusters(2)
    >>> clusters.labels, clusters.sizes
    (array([0, 0, 1], dtype=int32), array([2, 1]))
    """

    labels: NDArray[np.int32]
    sizes: NDArray[np.int64]
    medoids: NDArray[np.intp]
    inertia: float
    uninformed: NDArray[np.intp]
    objects: tuple[str, ...] = ()

    def to_frame(self) -> pl.DataFrame:
        """Columns object, cluster and is_medoid, as a polars data frame."""
        names = list(self.objects) or [str(x) for x in range(len(self.labels))]
        typical = np.isin(np.arange(len(names)), self.medoids)
        return pl.DataFrame({"object": names, "cluster": self.labels, "is_medoid": typical})


def as_clusters(
    fitted: methods.KernelKMeans,
    labels: NDArray[Any],
    medoids: methods.Medoids,
    objects: tuple[str, ...] = (),
) -> Clusters:
    """The clusters of a fitted KernelKMeans; ``labels`` are its labels here, wherever the rows lie."""
    typical = np.full(len(fitted.sizes_), -1, dtype=np.intp)
    typical[medoids.clusters] = medoids.indices
    return Clusters(labels, fitted.sizes_, typical, float(fitted.inertia_), fitted.uninformed_, objects)


@dataclass(frozen=True)
class Similar:
    """What is most similar to one object; ``print`` shows a short table.

    Attributes
    ----------
    name : the object asked about.
    names : the most similar ones, nearest first.
    similarities : 1 - d^2 / 2 of each; for a kernel that is its value, agreement between -1 and 1.
    uninformed : names of the objects nothing is known about; they cannot be in the list.
    """

    name: str
    names: tuple[str, ...]
    similarities: tuple[float, ...]
    uninformed: tuple[str, ...]

    def __str__(self) -> str:
        width, rows = max(map(len, self.names), default=0), zip(self.names, self.similarities, strict=True)
        lines = [f"  {name:<{width}}  {value:+.2f}" for name, value in rows]
        return "\n".join([f"most similar to {self.name}:", *lines])


@dataclass(frozen=True, repr=False)
class Predictions:
    """The answers that a model expects.

    Parameters
    ----------
    questions : as they were asked; ``near`` and ``far`` stand for "one" and "other", in the order given.
    margin : (m,) how clearly: positive where "one" is expected to be nearer, negative where "other" is, 0 for a tie.
        Squared distances in the model's own scale: compare them within a model, not between models.

    Examples
    --------
    >>> from nearfar.space import Space
    >>> expected = Space.of_points([[0.0], [1.0], [3.0]]).predict([[0, 2, 1]])
    >>> expected.margin, expected.triplets.array.tolist()
    (array([-8.]), [[0, 1, 2]])
    """

    questions: Triplets
    margin: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.margin)

    def __repr__(self) -> str:
        return f"Predictions({len(self)} questions, {int(self.ties.sum())} ties)"

    @property
    def ties(self) -> NDArray[np.bool_]:
        """(m,) where the model sees no difference, or knows nothing about one of the objects."""
        return np.equal(self.margin, 0)

    @property
    def triplets(self) -> Triplets:
        """The expected answers to the questions that are not ties."""
        asked, turned = self.questions[~self.ties], self.margin[~self.ties] < 0
        near, far = np.where(turned, (asked.far, asked.near), (asked.near, asked.far))
        return Triplets(asked.anchor, near, far, asked.objects)

    def to_frame(self) -> pl.DataFrame:
        """Columns anchor, one, other, nearer (null for a tie) and margin, as a polars data frame."""
        names = np.array(self.questions.objects, dtype=object)
        one, other = names[self.questions.near], names[self.questions.far]
        nearer = np.where(self.margin > 0, one, other)
        nearer[self.ties] = None
        columns = {"anchor": names[self.questions.anchor], "one": one, "other": other, "nearer": nearer}
        text = {name: pl.Series(name, values.tolist(), dtype=pl.String) for name, values in columns.items()}
        return pl.DataFrame({**text, "margin": self.margin})


def as_questions(questions: Triplets | Questions | ArrayLike, objects: tuple[str, ...]) -> Triplets:
    """Questions as Triplets over ``objects``: by name where names are given, else by index.

    Examples
    --------
    >>> as_questions([["fig", "plum", "lime"]], ("fig", "lime", "plum")).array.tolist()
    [[0, 2, 1]]
    """
    if isinstance(questions, Questions):
        questions = Triplets(questions.anchor, questions.one, questions.other, questions.objects)
    if not isinstance(questions, Triplets):
        array = np.asarray(questions)
        if array.dtype.kind not in "UOT" or array.size == 0:
            return Triplets.from_array(array, objects)
        names, codes = np.unique(array.astype(str), return_inverse=True)
        questions = Triplets.from_array(codes.reshape(array.shape), names.tolist())
    if questions.objects == objects:
        return questions
    index = positions(questions.objects, objects)
    if len(missing := np.flatnonzero(mentioned(questions) & (index < 0))):
        more = f" ({len(missing)} such names)" if len(missing) > 1 else ""
        wrong = (
            f"{questions.objects[missing[0]]!r} is not among the {len(objects)} objects of this space{more}"
        )
        raise InputError(f"questions: {wrong}; ask about objects that were in the answers")
    index = np.maximum(index, 0)
    return Triplets(index[questions.anchor], index[questions.near], index[questions.far], objects)
