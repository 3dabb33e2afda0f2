"""A folder with everything that the documentation names."""

import pytest
from docs_tools import furnish


@pytest.fixture(scope="session")
def furnished(tmp_path_factory):
    """The folder, and the answers in its answers.csv."""
    folder = tmp_path_factory.mktemp("reader")
    return folder, furnish(folder)


@pytest.fixture
def quick(monkeypatch):
    """Fewer models and resamples: what is tested is that the words run, not what comes out."""
    from nearfar.evaluate import analysis

    monkeypatch.setattr(analysis, "candidates", lambda n: ("score", "tste-2", "soe-3"))
    for name in ("LEAST_RESAMPLES", "MOST_RESAMPLES"):
        monkeypatch.setattr(analysis, name, 2)
