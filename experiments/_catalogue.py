"""All experiments, in the order of the paper."""

from __future__ import annotations

from collections.abc import Mapping

from experiments import car, figure1, figure2, figure3, food, general, mnist, mnist_map, nature, peers, usps
from experiments._experiment import Experiment

__all__ = ["EXPERIMENTS"]

MODULES = (figure1, figure2, figure3, food, car, nature, usps, general, mnist, mnist_map, peers)
EXPERIMENTS: Mapping[str, Experiment] = {module.EXPERIMENT.name: module.EXPERIMENT for module in MODULES}
