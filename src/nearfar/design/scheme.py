"""A scheme: everything about a plan but the objects and the number of questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from nearfar._tools.checks import Seed
from nearfar.design._even import count_rows
from nearfar.design.draws import at_least_three, grid_questions, near_questions, trio_questions
from nearfar.design.landmarks import landmark_questions, question_counts, random_landmarks
from nearfar.design.questions import KINDS, Objects, QuestionKind, Questions, object_names
from nearfar.errors import InputError

DRAWS = ("k1", "k2", "random")


@dataclass(frozen=True)
class Scheme:
    """What kind of questions to ask, and from which of them to draw.

    Parameters
    ----------
    kind : "near", "odd", "central" or "grid".
    draw : of "near" questions those of the landmark design of "k1" or "k2", or any ("random", evenly over the
        objects); other kinds are always drawn from all.
    landmarks : how many to draw, or which (names or indices).
    size, pick : options of a grid, and how many of them to pick.

    >>> Scheme("odd").questions(20, 50)
    Questions(50 odd questions, 20 objects)
    >>> Scheme(draw="k1", landmarks=5).total(20)
    180
    """

    kind: QuestionKind = "near"
    draw: Literal["k1", "k2", "random"] = "random"
    landmarks: int | Sequence[str] | Sequence[int] = 10
    size: int = 8
    pick: int = 2

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"kind: expected one of {', '.join(KINDS)}, got {self.kind!r}")
        if self.draw not in DRAWS:
            raise InputError(f"draw: expected one of {', '.join(DRAWS)}, got {self.draw!r}")
        if self.kind != "near" and self.draw != "random":
            design = f"the landmark design of {self.draw}"
            raise InputError(f"draw: {design} asks 'near' questions, not {self.kind!r}")

    @property
    def triplets_per_question(self) -> int:
        """How many triplets one answer gives."""
        return {"near": 1, "odd": 2, "central": 2, "grid": self.pick * (self.size - self.pick)}[self.kind]

    def check(self, objects: Objects) -> None:
        """Refuse what cannot be asked about these objects."""
        self.questions(at_least_three(objects), 0)

    def marks(self, objects: Objects, seed: Seed = 0) -> list[str]:
        """Names of the landmarks, drawn where only their number is given; none without a landmark design."""
        if self.draw == "random":
            return []
        names = object_names(objects)
        if isinstance(self.landmarks, (int, np.integer)):
            if self.landmarks < 2:
                raise InputError(f"landmarks must be at least 2, got {self.landmarks}")
            return [names[i] for i in random_landmarks(names, int(self.landmarks), seed)]
        return [mark if isinstance(mark, str) else names[mark] for mark in self.landmarks]

    def total(self, objects: Objects) -> int:
        """How many different questions there are."""
        n = len(object_names(objects))
        if self.draw == "random":
            widths = {"near": [1, 2], "odd": [3], "central": [3], "grid": [1, self.size]}
            return count_rows(n, widths[self.kind])
        k = self.landmarks if isinstance(self.landmarks, (int, np.integer)) else len(self.landmarks)
        own, others = question_counts(int(k), self.draw)
        return int(k * own + (n - k) * others)

    def questions(self, objects: Objects, budget: int | None = None, seed: Seed = 0) -> Questions:
        """Draw ``budget`` different questions; None asks all of them."""
        wanted = self.total(objects) if budget is None else budget
        if self.kind == "grid":
            return grid_questions(objects, wanted, size=self.size, pick=self.pick, seed=seed)
        if self.kind != "near":
            return trio_questions(objects, wanted, self.kind, seed=seed)
        if self.draw == "random":
            return near_questions(objects, wanted, seed=seed)
        marks = self.marks(objects, seed)
        return landmark_questions(objects, marks, self.draw, budget=wanted, even=True, seed=seed)
