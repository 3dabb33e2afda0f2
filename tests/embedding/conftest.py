"""Points and answers about them."""

import numpy as np
import pytest
from embedding_tools import answers_about


@pytest.fixture(scope="module")
def truth():
    return np.random.default_rng(5).normal(size=(25, 2))


@pytest.fixture(scope="module")
def answers(truth):
    return answers_about(truth, 2000)
