"""What all tests share: how cases are drawn, where the real data lies if it does, and a cluster of two processes."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# drawn cases are judged by what comes out, never by how long a busy machine takes
settings.register_profile("nearfar", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("nearfar")

SHARED = Path(__file__).parents[1].parent / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data():
    """The folder of real data sets; tests that need it are skipped where it is absent."""
    if not SHARED.is_dir():
        pytest.skip(f"real data is not at {SHARED}")
    return SHARED


@pytest.fixture(scope="module")
def cluster():
    """A client of two worker processes of one thread each."""
    from nearfar import scale

    with scale.connect("local:2") as client:
        yield client
