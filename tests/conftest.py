"""What all tests share: how cases are drawn, where the real data lies if it does, and a cluster of two processes."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# drawn cases are judged by what comes out, never by how long a busy machine takes
settings.register_profile("nearfar", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("nearfar")

os.environ["NEARFAR_CACHE"] = tempfile.mkdtemp(prefix="nearfar-choices-")  # not the user's, and empty
atexit.register(shutil.rmtree, os.environ["NEARFAR_CACHE"], ignore_errors=True)

# files of minutes, which begin first: two processes then end at about the same time
LONG = (
    "scale/test_scale_faults",
    "report/test_browser",
    "ask/test_pages",
    "cli/test_tiny",
    "cli/test_demo",
    "cli/test_cli_report",
    "ask/test_faults",
    "experiments/test_running",
    "docs/test_documented_commands",
    "docs/test_documented_python",
    "docs/test_documented_benchmarks",
    "docs/test_documented_programs",
    "scale/test_scale_methods",
    "cli/test_cli_scale",
    "embedding/test_embedding",
    "evaluate/test_compare",
    "evaluate/test_curve",
    "evaluate/test_groups",
    "evaluate/test_subgroups",
    "report/test_report_page",
    "test_anywhere",
)
RANK = {name: rank for rank, name in enumerate(LONG)}


def pytest_collection_modifyitems(items):
    """Long files first, the others as they come; the order within a file stays."""
    tests = f"{Path(__file__).parent.as_posix()}/"
    names = {item: item.path.as_posix().removeprefix(tests).removesuffix(".py") for item in items}
    items.sort(key=lambda item: RANK.get(names[item], len(LONG)))


SHARED = Path(os.environ.get("NEARFAR_DATA") or Path(__file__).parents[2] / "shared" / "data")


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
