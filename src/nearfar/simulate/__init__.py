"""Who would answer what: simulated answers to questions of every kind."""

from nearfar.simulate.answering import SimulatedAnswers, answers

__all__ = ["SimulatedAnswers", "answers"]
