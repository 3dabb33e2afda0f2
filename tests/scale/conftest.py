"""Where rows lie that are not in memory here."""

import pytest


@pytest.fixture(scope="module", params=["dask", "scratch"])
def elsewhere(request, cluster, tmp_path_factory):
    """Workers of Dask, or a folder of files."""
    from nearfar import scale

    if request.param == "dask":
        yield
    else:
        with scale.scratch(tmp_path_factory.mktemp("scratch")):
            yield
