"""All experiments, in the order of the paper."""

from __future__ import annotations

from collections.abc import Mapping

from experiments import (
    car,
    classify,
    complexity,
    diagonal,
    entries,
    figure1,
    figure2,
    figure3,
    food,
    general,
    landmarks,
    mnist,
    mnist_map,
    nature,
    peers,
    prior,
    usps,
)
from experiments._experiment import Experiment

__all__ = ["EXPERIMENTS"]

PAPER = (figure1, figure2, figure3, complexity, food, car, nature, usps, general, mnist, mnist_map)
OPEN = (landmarks, diagonal, classify, entries, prior)  # what the paper leaves open
MODULES = (*PAPER, *OPEN, peers)
EXPERIMENTS: Mapping[str, Experiment] = {module.EXPERIMENT.name: module.EXPERIMENT for module in MODULES}
