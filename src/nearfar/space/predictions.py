"""The answers that a space expects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar.design import Questions
from nearfar.errors import InputError
from nearfar.triplets import Triplets

__all__ = ["Predictions", "as_questions"]


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
    >>> found = Space.of_points([[0.0], [1.0], [3.0]]).predict([[0, 2, 1]])
    >>> found.margin, found.triplets.array.tolist()
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
        asked = self.questions[~self.ties]
        turned = self.margin[~self.ties] < 0
        return Triplets(
            asked.anchor,
            np.where(turned, asked.far, asked.near),
            np.where(turned, asked.near, asked.far),
            asked.objects,
        )

    def to_frame(self) -> Any:
        """Columns anchor, one, other, nearer (null for a tie) and margin, as a polars data frame."""
        import polars as pl

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
    if isinstance(questions, Triplets):
        if questions.objects == objects:
            return questions
        index = _indices(questions.objects, objects, questions)
        return Triplets(index[questions.anchor], index[questions.near], index[questions.far], objects)
    array = np.asarray(questions)
    if array.dtype.kind not in "UOT" or array.size == 0:
        return Triplets.from_array(array, objects)
    names, codes = np.unique(array.astype(str), return_inverse=True)
    return Triplets.from_array(_indices(tuple(names.tolist()), objects)[codes.reshape(array.shape)], objects)


def _indices(
    names: tuple[str, ...], objects: tuple[str, ...], questions: Triplets | None = None
) -> NDArray[np.int32]:
    """Index of each name among the model's objects; a name that is asked about must be among them."""
    position = {name: i for i, name in enumerate(objects)}
    index = np.array([position.get(name, -1) for name in names], dtype=np.int32)
    asked = np.ones(len(names), dtype=bool)
    if questions is not None:
        asked[:] = False
        for role in (questions.anchor, questions.near, questions.far):
            asked[role] = True
    missing = np.flatnonzero(asked & (index < 0))
    if len(missing):
        raise InputError(
            f"questions: {names[missing[0]]!r} is not among the {len(objects)} objects of this space"
            + (f" ({len(missing)} such names)" if len(missing) > 1 else "")
            + "; ask about objects that were in the answers",
        )
    return np.maximum(index, 0)
