"""Models turn answers into a space; clusters, maps, trees, neighbours and predictions follow from it."""

from nearfar.space.models import EMBEDDINGS, KERNELS, Model, fit, kernel_matrix, parse_model, parse_models
from nearfar.space.results import Clusters, Predictions, as_questions
from nearfar.space.space import Space

__all__ = [
    "EMBEDDINGS", "KERNELS", "Clusters", "Model", "Predictions", "Space", "as_questions", "fit", "kernel_matrix", "parse_model", "parse_models",
]  # fmt: skip
