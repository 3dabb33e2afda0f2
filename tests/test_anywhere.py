"""A read-only install, no home, a full or damaged compile cache, few threads: it works, with at most one warning."""

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import nearfar as nf
from nearfar._tools import threads
from nearfar.errors import InputError

PACKAGE = Path(nf.__file__).parent
WORK = """
import warnings
warnings.simplefilter("always")
import numpy as np
import nearfar._tools.distances, nearfar.methods.trees, nearfar.space
from nearfar.features import TripletMap
from nearfar.features.counts import count_sorted
print(count_sorted(np.array([0, 1, 2, 4, 5, 9]), *np.empty((3, 6), np.int64)))
"""
# root may write anywhere until it gives up its capabilities
WITHOUT_RIGHTS = """
import ctypes, os
if os.getuid() == 0:
    head, rights = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    assert ctypes.CDLL(None).capset(head, rights) == 0
"""
WITHOUT_USER = """
import pwd
def nobody(number):
    raise KeyError(number)
pwd.getpwuid = nobody
"""
FULL = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
"""
UNIX = pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions and limits")
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="root gives up its rights in another way here")


def work(folder, *, code=WORK, unset=(), **environment):
    """The result of a small computation in a process of its own, and its warnings."""
    inherited = {name: value for name, value in os.environ.items() if name not in unset}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=folder,
        env=inherited | {"PYTHONDONTWRITEBYTECODE": "1"} | environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, [line for line in done.stderr.splitlines() if "Warning:" in line]


@pytest.fixture
def installed(tmp_path):
    """A copy of the package, without compiled code, in folders that cannot be written to."""
    site = tmp_path / "site"
    shutil.copytree(PACKAGE, site / "nearfar", ignore=shutil.ignore_patterns("__pycache__"))
    for path in [site, *site.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    yield site
    for path in [site, *site.rglob("*")]:
        path.chmod(0o755)


@LINUX
@pytest.mark.parametrize("home", ["not-writable", "none"])
def test_a_read_only_install_without_a_home_works(installed, tmp_path, home):
    here = tmp_path / "here"
    here.mkdir()
    if home == "none":
        options = {"code": WITHOUT_USER + WITHOUT_RIGHTS + WORK, "unset": ("HOME", "XDG_CACHE_HOME")}
    else:
        options = {"code": WITHOUT_RIGHTS + WORK, "HOME": "/proc/none", "XDG_CACHE_HOME": "/proc/none"}
    result, warned = work(here, PYTHONPATH=str(installed), **options)
    assert result == "4\n"
    assert len(warned) == 1
    assert "compiled loops cannot be kept on disk" in warned[0] and "set NUMBA_CACHE_DIR" in warned[0]
    assert list(here.iterdir()) == []  # not even a folder called ~
    assert not list(installed.rglob("*.nb?"))


@UNIX
def test_a_full_home_works(tmp_path):
    result, warned = work(tmp_path, code=FULL + WORK, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert result == "4\n"
    assert len(warned) == 1 and "compiled loops cannot be kept on disk (file too large)" in warned[0]


def test_a_damaged_cache_is_made_anew(tmp_path):
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert work(tmp_path, **cache) == ("4\n", [])
    whole = {path: path.read_bytes() for path in (tmp_path / "cache").rglob("*.nb?")}
    assert {path.suffix for path in whole} == {".nbi", ".nbc"}
    for damaged in ([".nbi", ".nbc"], [".nbc"], [".nbi"]):
        for path, data in whole.items():
            path.write_bytes(data[: len(data) // 2] if path.suffix in damaged else data)
        assert work(tmp_path, **cache) == ("4\n", [])
        after = [path.stat().st_size for path in (tmp_path / "cache").rglob("*.nb?")]
        assert min(after) >= min(map(len, whole.values())) and len(after) == len(whole)


@pytest.mark.parametrize(
    ("ours", "everybodys", "wanted"),
    [("3", "2", 3), ("", "2", 2), (None, "5,2", 5), (None, "many", None), (None, None, None)],
)
def test_the_number_of_threads_can_be_set(tmp_path, ours, everybodys, wanted):
    given = {"NEARFAR_NUM_THREADS": ours, "OMP_NUM_THREADS": everybodys}
    code = "import os\nfrom nearfar._tools.threads import n_threads\nos.environ['OMP_NUM_THREADS'] = '7'\nprint(n_threads())"
    said, _ = work(
        tmp_path, code=code, unset=tuple(given), **{name: value for name, value in given.items() if value}
    )
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert int(said) == (wanted or cores)


@pytest.mark.parametrize("wrong", ["0", "two", "-1", "1.5"])
def test_a_wrong_number_of_threads_is_one_sentence(monkeypatch, wrong):
    monkeypatch.setenv("NEARFAR_NUM_THREADS", wrong)
    with pytest.raises(InputError, match=f"NEARFAR_NUM_THREADS must be an integer >= 1, got '{wrong}'"):
        threads.n_threads()


@pytest.mark.parametrize("kernel", ["k1", "score"])
def test_two_threads_may_count_into_one_map(kernel):
    """As if one thread had given all batches; there are few cells, so that threads meet often."""
    rng = np.random.default_rng(0)
    batches = [rng.permuted(np.tile(np.arange(5), (50_000, 1)), axis=1)[:, :3] for _ in range(16)]
    shared, faults = nf.FeatureMap(kernel), []

    def feed(part):
        try:
            for batch in part:
                shared.partial_fit(nf.Triplets.from_array(batch, n_objects=5))
        except Exception as fault:
            faults.append(fault)

    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        both = [threading.Thread(target=feed, args=[batches[half::2]]) for half in (0, 1)]
        for one in both:
            one.start()
        for one in both:
            one.join()
    finally:
        sys.setswitchinterval(switch)
    assert faults == []
    alone = nf.FeatureMap(kernel).fit(nf.Triplets.from_array(np.concatenate(batches), n_objects=5))
    computed, right = (
        np.asarray(x.todense() if hasattr(x, "todense") else x) for x in (shared.features_, alone.features_)
    )
    assert np.array_equal(computed, right)


@pytest.mark.parametrize("by_script", [True, False])
@pytest.mark.parametrize("early", ["lazy_loader", "typer"])
def test_ctrl_c_during_the_imports_shows_no_traceback(tmp_path, early, by_script):
    (tmp_path / f"{early}.py").write_text("raise KeyboardInterrupt")
    script = Path(sys.executable).with_name("nearfar")
    command = [str(script)] if by_script else [sys.executable, "-m", "nearfar"]
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    ended = subprocess.run([*command, "--help"], env=env, capture_output=True, text=True)
    assert ended.returncode != 0 and "Traceback" not in ended.stderr


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps a folder that somebody works in")
def test_a_working_folder_that_is_gone_is_named(tmp_path):
    code = (
        "import os, sys\nos.mkdir('gone')\nos.chdir('gone')\nos.rmdir('../gone')\n"
        "from nearfar.cli import main\nsys.argv = ['nearfar', 'report', sys.argv[1]]\nmain()"
    )
    (tmp_path / "a.csv").write_text("anchor,near,far\na,b,c\nb,c,a\nc,a,b\n")
    words = [sys.executable, "-c", code, str(tmp_path / "a.csv")]
    ended = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 2 and "working folder" in ended.stderr
