"""Who would answer what: simulated answers to questions of every kind."""

from nearfar.simulate.answering import SimulatedAnswers, answers
from nearfar.simulate.distances import check_rows, squared_distances

__all__ = ["SimulatedAnswers", "answers", "check_rows", "squared_distances"]
