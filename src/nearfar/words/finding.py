"""What all sentences are made of: a finding, a share with its interval, a model's name explained, of whom a figure speaks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from nearfar._tools.text import count, percent, points

if TYPE_CHECKING:
    from nearfar.evaluate.bootstrap import Scope

EMBEDDINGS = {"ste": "STE", "tste": "t-STE", "ckl": "CKL", "soe": "SOE", "gnmds": "GNMDS"}


class Finding(NamedTuple):
    """What a result says: a headline, a sentence or two, and details for whoever asks.

    ``level`` : "good", "fair" (worth a look), "poor" or "note" (neither).
    """

    level: str
    short: str
    text: str
    details: str = ""

    def __str__(self) -> str:
        return f"{self.text} {self.details}".strip()


def gloss(model: str, needed: int | None = None) -> str:
    """What a model is, for somebody who does not know its name; ``needed`` : dimensions beyond which none are certain.

    >>> gloss("soe-5"), gloss("soe-5", 2), gloss("score")
    ('ordinal embedding, 5 dimensions', 'ordinal embedding, at most 5 dimensions', 'kernel')
    """
    if model == "features":
        return "vectors alone"
    if model.endswith("+features"):
        return f"{gloss(model.removesuffix('+features'), needed)}, vectors as a prior"
    if model.partition("-")[0] == "nonneg":
        size = model.partition("-")[2]
        return "non-negative dimensions" + (f", at most {size}" if size else "")
    base, _, size = model.rpartition("-")
    dimensions = count(int(size), "dimension") if base and size.isdecimal() else ""
    if dimensions and base in EMBEDDINGS:
        dimensions = "at most " * (needed is not None and int(size) > max(needed, 1)) + dimensions
        return f"ordinal embedding, {dimensions}"
    if set((base if dimensions else model).split("+")) <= {"k1", "k2", "score"}:
        return f"kernel PCA, {dimensions}" if dimensions else "kernel"
    return "your own model"


def unit(name: str, many: bool = False) -> str:
    """What is held out as a whole.

    >>> unit("trio"), unit("pair", many=True)
    ('trio', 'pairs of anchor and near')
    """
    return f"{name}{'s' * many}{' of anchor and near' * (name == 'pair')}"


def interval(low: float, high: float) -> str:
    """The 95 % interval of a share in percent; "" where it is not known.

    >>> interval(0.771, 0.9), interval(float("nan"), 1.0)
    ('95\\xa0% interval 77 to 90', '')
    """
    if not (math.isfinite(low) and math.isfinite(high)):
        return ""
    return f"95\xa0% interval {100 * low:.0f} to {100 * high:.0f}"


def share(estimate: Any) -> str:
    """A share with its interval."""
    limits = interval(estimate.low, estimate.high)
    return percent(estimate.value) + (f" ({limits})" if limits else "")


def points_with_interval(estimate: Any) -> str:
    """A difference of two shares with its interval."""
    value, low, high = (points(each).lstrip("+") for each in (estimate.value, estimate.low, estimate.high))
    known = math.isfinite(estimate.low) and math.isfinite(estimate.high)
    return f"{value} points" + (f" (95\xa0% interval {low} to {high})" if known else "")


def whose(scope: Scope) -> str:
    """Of whose answers to which questions a figure speaks."""
    n = scope.n_participants
    these = "this participant's " if n == 1 else f"these {n} participants' "
    who = {"new": "new participants' ", "same": these, "unknown": ""}[scope.participants]
    which = {
        "new": "new questions",
        "within booklets": "questions within these booklets",
        "adaptive": "these adaptive questions",
        "same": "the same questions",
    }
    return f"{who}answers to {which[scope.questions]}"
