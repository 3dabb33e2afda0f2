"""A folder with everything that the documentation names."""

import pytest
from docs_tools import furnish


@pytest.fixture(scope="session")
def furnished(tmp_path_factory):
    """The folder, and the answers in its answers.csv."""
    folder = tmp_path_factory.mktemp("reader")
    return folder, furnish(folder)
