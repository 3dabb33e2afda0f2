"""What the tests of collecting share: a PostgreSQL server and a browser, each started once."""

import contextlib

import pytest
from ask_browser import Tab, find_driver, start_browser
from ask_postgres import cluster, find_programs
from ask_tools import SMALL, opened


@pytest.fixture
def make(tmp_path):
    """A function that opens a study in the folder of the test, to be closed after it."""
    with contextlib.ExitStack() as stack:
        yield lambda *url, **parts: stack.enter_context(contextlib.closing(opened(tmp_path, *url, **parts)))


@pytest.fixture(scope="session")
def new_database():
    """A function that makes an empty PostgreSQL database and returns its address."""
    if find_programs() is None:
        pytest.skip("NO POSTGRESQL TESTS: PostgreSQL is absent; see .ci/postgresql")
    with cluster() as make:
        yield make


@pytest.fixture(scope="session")
def browser():
    """A browser that all tests of pages share."""
    if find_driver() is None:
        pytest.skip("NO BROWSER TESTS: chromium or chromedriver is absent; see .ci/chromium")
    driver = start_browser()
    yield driver
    driver.quit()


@pytest.fixture
def tab(browser):
    """A fresh tab: nothing stored, online."""
    fresh = Tab(browser)
    fresh.offline(False)
    yield fresh
    fresh.offline(False)
    browser.get("about:blank")


@pytest.fixture
def ready(make):
    """A small study that is open."""
    return make(**SMALL)
