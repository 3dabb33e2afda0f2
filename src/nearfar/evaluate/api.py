"""Functions that answer one question about answers: each is a view of an Analysis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import clone

from nearfar._tools.checks import Seed, check_count
from nearfar.embedding.prior import as_vectors
from nearfar.errors import InputError
from nearfar.evaluate.analysis import Analysis
from nearfar.evaluate.comparison import Comparison, DimensionChoice, is_auto
from nearfar.evaluate.crossval import LearningCurve
from nearfar.evaluate.dimensions import find_dimensions
from nearfar.evaluate.judging import DIMENSIONS, LAWS, TOO_FEW_QUESTIONS
from nearfar.evaluate.priors import settle
from nearfar.io.quadruplets import as_quadruplets
from nearfar.space.models import WITH_FEATURES, parse_model
from nearfar.space.models import fit as fit_model
from nearfar.space.space import Space
from nearfar.triplets import Triplets, as_triplets


def fit(
    answers: Triplets | ArrayLike, model: Any = "auto", *, landmarks: Sequence[Any] | None = None,
    features: Any = None, seed: Seed = 0,
) -> Space:  # fmt: skip
    """The space that a model makes of answers.

    Parameters
    ----------
    answers : Triplets, an (m, 3) array of indices, or a data frame.
    model : "auto" (the most accurate, or a simpler one as accurate); a name such as "score", "score-5" or "soe-8"; or
        an object with ``fit_transform(answers)``.
    landmarks : names or indices of the objects that the columns of a kernel are made of.
    features : vectors of the objects as a prior, for embeddings and ``auto``; as for ``Analysis``.
    seed : None, an integer or a numpy Generator; for ``auto``.

    Examples
    --------
    >>> fit([[0, 1, 2], [0, 1, 3], [1, 0, 2], [2, 3, 0], [3, 2, 1]], "score")
    Space('score', 4 objects)
    """
    if as_quadruplets(answers) is not None and features is None:
        return fit_model(answers, model, landmarks=landmarks)
    if is_auto(model) and landmarks is None:
        return Analysis(answers, features=features, seed=seed).space
    if is_auto(model):
        raise InputError("landmarks: they go with a kernel; name one, such as model='k1', instead of 'auto'")
    answers, chosen = as_triplets(answers), parse_model(model, landmarks=landmarks)
    if (vectors := as_vectors(features, answers.objects)) is not None:
        chosen = settle(chosen.with_vectors(vectors), answers)
    space = fit_model(answers, chosen)
    if chosen.base == "nonneg":
        name = chosen.name.removesuffix(WITH_FEATURES)
        space.find_dimensions = partial(find_dimensions, answers, name, features=features)
    return space


def compare(
    answers: Triplets | ArrayLike, models: Mapping[str, Any] | Iterable[Any] | None = None, *,
    cv: int | None = None, design: str | None = None, features: Any = None, seed: Seed = 0,
) -> Comparison:  # fmt: skip
    """Judge models by how many answers they predict that they were not fitted on.

    Answers are cut into ``cv`` folds by ``nearfar.kfold``, which does not leak; each is held out once, so that every
    answer is predicted once by every model. ``with nearfar._tools.progress.show(): ...`` draws a bar.

    Parameters
    ----------
    models : names such as "k1", "k1+k2", "score-5", "soe-8"; objects with ``fit_transform(answers)``; or a dict of own
        names. Default: the short list that ``auto`` chooses from.
    features : as for ``Analysis``: every embedding in the list is judged with and without them, and they are judged alone.
    answers, cv, design, seed : as for ``Analysis``; ``cv`` folds are of all answers.

    Returns
    -------
    Comparison : prints as a table; ``.best``, ``.to_frame()``, ``.ceiling``.

    Examples
    --------
    >>> from nearfar import design, simulate
    >>> line = simulate.answers(design.random_questions(12, 600), points=[[x] for x in range(12)]).triplets
    >>> result = compare(line, models=["k1", "score"])
    >>> result.best.name, 0.7 < result.best.accuracy < 1
    ('score', True)
    """
    return Analysis(answers, models=models, cv=cv, design=design, features=features, seed=seed).scores


def learning_curve(
    answers: Triplets | ArrayLike, model: Any = "auto", *, sizes: Sequence[float] | None = None,
    cv: int | None = None, design: str | None = None, seed: Seed = 0,
) -> LearningCurve:  # fmt: skip
    """Accuracy against the number of answers, and what more would bring, of this model: another one may gain more.

    In every fold the training answers grow as a collection does, by whole statements, each set inside the next.

    Parameters
    ----------
    model : as for ``fit``; "auto" is the one that ``nf.analyse`` chooses by all answers, at every size.
    sizes : numbers of answers, or shares of the training answers (at most 1); default: an eighth to all.
    answers, cv, design, seed : as for ``Analysis``.

    Examples
    --------
    >>> from nearfar import design, simulate
    >>> line = simulate.answers(design.random_questions(20, 1000), points=[[x] for x in range(20)]).triplets
    >>> curve = learning_curve(line, "score")
    >>> curve.points[0].accuracy < curve.points[-1].accuracy, round(curve.next_gain.value / curve.last_gain.value, 2)
    (True, 0.5)
    """
    models = None if is_auto(model) else [model]
    return Analysis(answers, models=models, cv=cv, design=design, seed=seed).measure_curve(sizes)


def choose_dimension(
    answers: Triplets | ArrayLike, model: Any = LAWS, dimensions: Sequence[int] = DIMENSIONS, *,
    cv: int | None = None, design: str | None = None, seed: Seed = 0,
) -> DimensionChoice:  # fmt: skip
    """The fewest dimensions that no larger number clearly beats on held-out answers.

    All numbers are judged on the same answers, by how likely they make them: a dimension is added only if that gain exceeds 1.7
    of its standard errors. Where no number is clearly above guessing, the answers are called noise.

    Parameters
    ----------
    answers : what was answered.
    model : an embedding ("ste", "ckl", "soe", "gnmds"), a kernel whose PCA is cut ("score", "k1", ...), or an estimator
        with a parameter ``n_components`` and ``fit_transform(answers)``. Not "auto", which chooses dimensions of its own.
        Of several, the likeliest counts for each number of dimensions. Best SOE and CKL: others, or one alone, found more than
        the objects have in some simulations. Not "tste", which needs five dimensions for a plane.
    dimensions : numbers of dimensions to try; default: no more than objects less two.
    cv, design, seed : as for ``compare``.

    Examples
    --------
    >>> from nearfar import design, simulate
    >>> line = simulate.answers(design.random_questions(15, 1000), points=[[x] for x in range(15)]).triplets
    >>> int(choose_dimension(line, "ste", (1, 2, 3)))
    1
    """
    answers = as_triplets(answers)
    wanted = sorted({check_count(d, "dimensions") for d in dimensions})
    if dimensions is DIMENSIONS:
        wanted = [d for d in wanted if d <= max(answers.n_objects - 2, 1)]
    if not wanted:
        raise InputError("dimensions: got an empty list, expected numbers of dimensions such as (1, 2, 3)")
    listed = list(model) if isinstance(model, list | tuple) else [model]
    models = {}
    for d, one in product(wanted, listed):
        name = one.strip() if isinstance(one, str) else type(one).__name__.lower()
        if name.lower() == "tste":
            raise InputError("model: t-STE does not tell dimensions; count those of 'ste'")
        models[str(d) if len(listed) == 1 else f"{name}-{d}"] = _with_dimension(one, d)
    chosen = Analysis(answers, models=models, cv=cv, design=design, seed=seed).dimension_choice
    if chosen is None:
        raise InputError(TOO_FEW_QUESTIONS)
    return chosen


def _with_dimension(model: Any, dimension: int) -> Any:
    if isinstance(model, str):
        name = model.strip()
        if name == "auto" or name.rpartition("-")[2].isdecimal():
            raise InputError(f"model: {name!r} has dimensions of its own; name it without, such as 'ste'")
        return f"{name}-{dimension}"
    if "n_components" not in getattr(model, "get_params", dict)():
        raise InputError(f"model: {model!r} has no parameter n_components; name an embedding or a kernel")
    return clone(model).set_params(n_components=dimension)
