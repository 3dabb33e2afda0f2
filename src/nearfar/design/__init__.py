"""Which questions to ask, and of whom: landmark designs, random draws, trios, grids, checks, repeats, booklets, adaptive ones."""

from nearfar.design.adaptive import AdaptiveQuestions, next_questions
from nearfar.design.booklets import Booklets, arrange, booklets, new_places
from nearfar.design.draws import (
    check_questions,
    grid_questions,
    near_questions,
    random_questions,
    trio_questions,
)
from nearfar.design.landmarks import farthest_first, landmark_questions, random_landmarks
from nearfar.design.questions import KINDS, Questions
from nearfar.design.scheme import Scheme

__all__ = [
    "KINDS", "AdaptiveQuestions", "Booklets", "Questions", "Scheme", "arrange", "booklets", "check_questions",
    "farthest_first", "grid_questions", "landmark_questions", "near_questions", "new_places",
    "next_questions", "random_landmarks", "random_questions", "trio_questions",
]  # fmt: skip
