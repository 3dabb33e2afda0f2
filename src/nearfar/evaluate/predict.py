"""``predict_answers``: which of two objects is nearer to a third, by anything that was fitted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nearfar.design import Questions
from nearfar.errors import InputError
from nearfar.evaluate.predictions import Fitted, Predictions
from nearfar.triplets import Triplets

__all__ = ["predict_answers"]


def predict_answers(
    questions: Triplets | Questions | ArrayLike,
    model: Any = None,
    *,
    points: ArrayLike | None = None,
    phi: Any = None,
    objects: tuple[str, ...] | None = None,
) -> Predictions:
    """Which of two objects is nearer to a third, by a fitted model, by coordinates, or by features of a kernel.

    Parameters
    ----------
    questions : (m, 3) rows (anchor, one, other) of indices or of names; ``nearfar.design`` questions; or Triplets
        whose answers do not matter. Objects that have names are matched by name.
    model : a fitted embedding, FeatureMap or KernelPCA, or what ``nearfar.fit_model`` gives. Or instead:
    points : (n, d) coordinates.
    phi : (n, p) features of ``FeatureMap``, ndarray or csr_array; an object with a zero row makes a tie.
    objects : names of the n rows, where the model does not know them; default: those of the questions, else
        "0", "1", ...

    Examples
    --------
    >>> answers = predict_answers([["a", "b", "c"], ["b", "c", "a"]], points=[[0], [1], [3]], objects=("a", "b", "c"))
    >>> answers.to_frame()["nearer"].to_list(), answers.margin.tolist()
    (['b', 'a'], [8.0, -3.0])
    """
    given = [
        name for name, value in (("model", model), ("points", points), ("phi", phi)) if value is not None
    ]
    if len(given) != 1:
        raise InputError(
            f"predict_answers: expected one of model, points and phi, got {' and '.join(given) or 'none'}",
        )
    if model is not None:
        points, phi, objects = _rows_of(model, objects)
    if isinstance(model, Fitted):
        return model.predict_answers(questions)
    rows = np.asarray(points) if phi is None else phi
    names = _names(rows, questions, objects)
    known = np.ones(len(names), dtype=bool)
    known[_unknown(model, names)] = False
    fitted = Fitted(given[0], names, rows if phi is None else None, phi, known)
    return fitted.predict_answers(questions)


def _rows_of(model: Any, objects: tuple[str, ...] | None) -> tuple[Any, Any, tuple[str, ...] | None]:
    """Points or features of a fitted estimator, and the names of its rows."""
    if isinstance(model, Fitted):
        return model.points, model.phi, model.objects
    objects = getattr(model, "objects_", objects)
    if hasattr(model, "embedding_"):
        return model.embedding_, None, objects
    if hasattr(model, "features_"):
        return None, model.features_, objects
    raise InputError(
        f"predict_answers: {model!r} is no fitted model; fit it first, or give its points= or phi=",
    )


def _unknown(model: Any, names: tuple[str, ...]) -> list[int]:
    """Rows that an estimator has placed without knowing anything, by index (KernelPCA) or by name."""
    position = {name: i for i, name in enumerate(names)}
    listed = getattr(model, "uninformed_", ())
    return [position[row] if isinstance(row, str) else int(row) for row in listed]


def _names(rows: Any, questions: Any, objects: tuple[str, ...] | None) -> tuple[str, ...]:
    if len(rows.shape) != 2:
        raise InputError(
            f"predict_answers: expected one row per object, got shape {rows.shape}",
        )
    n = int(rows.shape[0])
    if objects is None:
        named = isinstance(questions, (Triplets, Questions))
        objects = questions.objects if named else tuple(map(str, range(n)))
    if len(objects) != n:
        raise InputError(
            f"predict_answers: {n} rows came for {len(objects)} objects; expected one row per object",
        )
    return tuple(objects)
