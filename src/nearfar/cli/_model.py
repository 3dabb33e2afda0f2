"""The option ``--model``: from the name of a model to a space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nearfar.errors import InputError

if TYPE_CHECKING:
    from nearfar.space import Space
    from nearfar.triplets import Triplets

__all__ = ["ModelOption", "Modelled", "make_space"]

ModelOption = Annotated[
    str,
    typer.Option(
        "--model",
        "-m",
        metavar="NAME",
        help="What turns answers into a space: auto, the model that predicts held-out answers best; a kernel (k1, k2, "
        "k1+k2, score), its PCA (score-5), or an embedding (soe-8, tste-2, ckl-5, ste-3, gnmds-2).",
    ),
]


@dataclass(frozen=True)
class Modelled:
    """A space, and one line about the model that made it ("" where it was named and not judged)."""

    space: Space
    headline: str = ""


def make_space(
    answers: Triplets,
    model: str,
    *,
    landmarks: Sequence[str] | None = None,
    dimensions: int | None = None,
    settings: dict[str, Any] | None = None,
    seed: int = 0,
) -> Modelled:
    """The space of a named model, or of the best one.

    ``dimensions`` : of a map; they complete the name of an embedding, and ``auto`` chooses among models that have so
    many. ``settings`` : parameters of an embedding.
    """
    from nearfar.space import EMBEDDINGS, fit, parse_model

    name = "".join(model.lower().split())
    if name in EMBEDDINGS and dimensions is not None:
        name = f"{name}-{dimensions}"
    if name == "auto":
        return _best(answers, landmarks, dimensions, settings, seed)
    parsed = parse_model(name)
    if not settings:
        return Modelled(fit(answers, name, landmarks=landmarks))
    loss = name.rpartition("-")[0]
    if loss not in EMBEDDINGS:
        raise InputError(
            f"--model {model}: --regularization, --starts and --max-iter are for embeddings such as soe-2"
        )
    from nearfar import embedding

    estimator = getattr(embedding, EMBEDDINGS[loss])(n_components=parsed.n_components, **settings)
    return Modelled(fit(answers, parse_model(estimator, name)))


def _best(
    answers: Triplets,
    landmarks: Sequence[str] | None,
    dimensions: int | None,
    settings: dict[str, Any] | None,
    seed: int,
) -> Modelled:
    from nearfar.evaluate import Analysis

    if landmarks is not None:
        raise InputError("--landmarks: they go with a kernel; name one, such as --model k1")
    if settings:
        raise InputError(
            "--regularization, --starts and --max-iter go with an embedding; name one, such as --model soe"
        )
    analysis = Analysis(answers, seed=seed)
    if dimensions is None:
        return Modelled(analysis.space, analysis.headline)
    flat = analysis.in_dimensions(dimensions)
    headline = analysis.headline
    if flat.model != analysis.best.name:
        share = 100 * analysis.scores[flat.model].accuracy if analysis.splits else float("nan")
        headline += f"\nmap: {flat.model}, the best with {dimensions} dimensions ({share:.1f} %)"
    return Modelled(flat, headline)
