"""What breaks in a cluster: killed workers, little memory, a scheduler that goes away, workers unlike us."""

import io
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, nullcontext
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scale_tools import LANDMARKS, DeadlyPiece, dense, made_answers, slow_answers

import nearfar as nf
from nearfar import scale
from nearfar.errors import InputError, TooLargeError, UnreachableError
from nearfar.scale import _connect
from nearfar.scale._answers import Answers
from nearfar.scale._engine import _Pulse, check_versions

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
pytestmark = [
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL"),
    pytest.mark.filterwarnings("ignore::nearfar.errors.NearfarWarning"),
]
TESTS = str(Path(__file__).parents[1])
SITE_PACKAGES = Path(np.__file__).parents[1]


@pytest.fixture
def bare(tmp_path):
    """The environment of a Python that has all but nearfar."""
    for entry in SITE_PACKAGES.iterdir():
        if "nearfar" not in entry.name:
            (tmp_path / entry.name).symlink_to(entry)
    return {"PYTHONPATH": str(tmp_path)}


@contextmanager
def local_cluster(n_workers, **more):
    with _connect.local_cluster(n_workers, **more) as cluster, distributed.Client(cluster) as client:
        yield client


def kill_later(pid, seconds):
    """SIGKILL, as the kernel sends it when memory runs out; returns the thread that does it."""
    thread = threading.Timer(seconds, os.kill, [pid, signal.SIGKILL])
    thread.start()
    return thread


class KillAt:
    """Listens to progress, and kills a process when a step of that name begins for the nth time."""

    def __init__(self, name, pid, nth=3):
        self.name, self.pid, self.nth, self.count = name, pid, nth, 0

    @property
    def done(self):
        return self.count >= self.nth

    def __call__(self, step):
        begins = step.name == self.name and not step.done and not step.over
        self.count += begins
        if begins and self.count == self.nth:
            os.kill(self.pid, signal.SIGKILL)


def test_a_local_cluster_starts_on_a_slow_disk_though_dask_warns_of_it(monkeypatch):
    """Warnings are errors in these tests."""
    slow = distributed.utils.warn_on_duration
    monkeypatch.setattr(distributed.core, "warn_on_duration", lambda _, message: slow("0s", message))
    with local_cluster(1) as client:
        assert client.submit(sum, [1, 2]).result() == 3


def test_workers_that_take_long_to_go_do_not_spoil_the_work(monkeypatch):
    """Older versions of Dask give a worker that was killed one second to end, which a busy machine may not have."""
    kill = distributed.nanny.WorkerProcess.kill

    async def slow_to_go(*given, **options):
        await kill(*given, **options)
        raise TimeoutError

    monkeypatch.setattr(distributed.nanny.WorkerProcess, "kill", slow_to_go)
    with scale.connect("local:1") as client:
        assert client.submit(sum, [1, 2]).result() == 3


def test_a_killed_worker_does_not_change_the_result():
    """Once while answers are counted, once while clusters are found."""
    answers = made_answers(landmarks=LANDMARKS)
    one = nf.FeatureMap("k1", landmarks=LANDMARKS).fit_transform(answers)
    with local_cluster(2) as client:
        before = client.run(os.getpid)
        killer = kill_later(next(iter(before.values())), 1.5)
        many = scale.FeatureMap("k1", landmarks=LANDMARKS).fit_transform(slow_answers(answers, 20, 0.3))
        assert not killer.is_alive()  # so it was in mid-run
        assert np.array_equal(dense(many.to_array()), one)
        after = client.run(os.getpid)
        assert set(after.values()) != set(before.values())
        killer = KillAt("k-means", next(iter(after.values())))
        with nf.progress.listen(killer):
            labels = scale.KernelKMeans(4, n_init=2, random_state=0).fit_predict(many).to_array()
        assert killer.done and set(client.run(os.getpid).values()) != set(after.values())
        assert labels.tolist() == nf.KernelKMeans(4, n_init=2, random_state=0).fit_predict(one).tolist()


def test_a_worker_makes_features_of_three_times_its_memory():
    """What does not fit goes to disk and comes back; every row is the one that a machine with memory makes."""
    n, landmarks, m = 175_000, 56, 700_000
    rng = np.random.default_rng(0)
    anchor, near = rng.integers(landmarks, n, m), rng.integers(0, landmarks, m)
    far = (near + rng.integers(1, landmarks, m)) % landmarks
    near, far = np.minimum(near, far), np.maximum(near, far)  # nothing cancels out
    answers = nf.Triplets(anchor, near, far, nf.io.objects.as_names(n))
    settings = {"kernel": "k1", "landmarks": range(landmarks), "layout": "dense"}
    with local_cluster(1, memory_limit="700MB") as client:
        assert [w["memory_limit"] for w in client.scheduler_info()["workers"].values()] == [7 * 10**8]
        fitted = scale.FeatureMap(**settings).fit(answers)
        assert fitted.features_.nbytes > 2.1e9
        phi = scale.to_dask(fitted.features_)
        squares, rows = client.compute([(phi**2).sum(), phi[-2000:]])
        assert squares.result(timeout=300) == pytest.approx(fitted.n_informed_, rel=1e-12)
        last = answers[answers.anchor >= n - 2000].array
        last[:, 0] -= n - 2000 - landmarks  # the same answers about landmarks and the last 2000 alone
        assert np.array_equal(rows.result(), nf.FeatureMap(**settings).fit_transform(last)[landmarks:])
        assert fitted.n_informed_ == len(np.unique(anchor))


def test_a_task_that_no_worker_survives_is_one_sentence():
    answers = Answers((DeadlyPiece(),), ("a", "b", "c"), None, 1)
    with dask.config.set({"distributed.scheduler.allowed-failures": 1}), local_cluster(1):
        sentence = "counting answers: workers died 2 times on the same task, most likely for lack of memory"
        with pytest.raises(TooLargeError, match=sentence):
            scale.FeatureMap("k1").fit(answers)


# -------------------------------------------------------------------- clusters of their own


@contextmanager
def process(*command, says, **environment):
    """A process that runs while the block does, once it has said that it is ready."""
    started = subprocess.Popen(
        [sys.executable, *command],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"PYTHONPATH": TESTS} | environment,
    )
    lines = []
    try:
        for line in started.stderr:
            lines.append(line)
            if says in line:
                break
        else:
            raise RuntimeError("".join(lines))
        reader = threading.Thread(target=started.stderr.read, daemon=True)  # so that the pipe never fills
        reader.start()
        yield started, lines
    finally:
        started.kill()
        started.wait()
        reader.join()
        started.stderr.close()


@contextmanager
def running_scheduler(*options, **environment):
    """(process, address) of a scheduler without workers."""
    command = (*options, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--host", "127.0.0.1")
    quiet = ("--no-dashboard", "--dashboard-address", ":0")
    with process(*command, *quiet, says="Scheduler at", **environment) as (started, lines):
        yield started, "tcp://" + lines[-1].split("tcp://")[1].strip()


@contextmanager
def running_worker(address, *options, **environment):
    command = (*options, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny")
    with process(*command, "--no-dashboard", says="Registered to", **environment) as (started, _):
        yield started


@pytest.fixture
def dask_says():
    """What Dask's loggers write to stderr."""
    handler = logging.StreamHandler(io.StringIO())  # as Dask has one outside of tests
    logging.getLogger("distributed").addHandler(handler)
    yield handler.stream
    logging.getLogger("distributed").removeHandler(handler)


def test_a_scheduler_that_goes_away_is_one_sentence(dask_says):
    answers = slow_answers(made_answers(), 40, 0.2)
    with running_scheduler() as (started, address), running_worker(address), scale.connect(address):
        killer = kill_later(started.pid, 1.0)
        with pytest.raises(
            UnreachableError, match=f"{address}: the Dask scheduler went away while"
        ) as raised:
            scale.FeatureMap("k1").fit(answers)
        assert "\n" not in str(raised.value)
        killer.join()
        assert started.wait(10) == -signal.SIGKILL
        with pytest.raises(UnreachableError, match="went away while"):
            scale.from_dask(da.ones((2, 2))).to_array()
    assert dask_says.getvalue() == ""  # no tracebacks beside the sentence


def test_a_port_that_is_open_and_silent_is_one_sentence(monkeypatch):
    """Dask itself waits there for ever."""
    monkeypatch.setenv("NEARFAR_DASK_REPLY_TIMEOUT", "0.5")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        sentence = f"{address}: cannot reach a Dask scheduler, it does not reply"
        with pytest.raises(UnreachableError, match=sentence), scale.connect(address):
            pass


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("tcp://127.0.0.1:9", "it does not reply; check the address"),
        ("tls://127.0.0.1:9", "TLS expects"),
        ("tcp://x", "missing port"),
        ("x://y", "x"),
    ],
)
def test_an_address_that_cannot_be_used_is_one_sentence(monkeypatch, address, reason):
    monkeypatch.setenv("NEARFAR_DASK_REPLY_TIMEOUT", "0.5")
    sentence = f"{address}: cannot reach a Dask scheduler, .*{reason}"
    with pytest.raises(UnreachableError, match=sentence), scale.connect(address):
        pass


@pytest.mark.parametrize("given", ["soon", "0", "-1", "inf", "nan"])
def test_a_timeout_that_is_not_one_is_one_sentence(monkeypatch, given):
    monkeypatch.setenv("NEARFAR_DASK_REPLY_TIMEOUT", given)
    sentence = f"NEARFAR_DASK_REPLY_TIMEOUT must be a number of seconds > 0, got '{given}'"
    with pytest.raises(InputError, match=sentence), scale.connect("tcp://127.0.0.1:9"):
        pass


def test_a_scheduler_without_workers_is_one_sentence(monkeypatch):
    with running_scheduler() as (_, address):
        monkeypatch.setenv("NEARFAR_DASK_WORKER_TIMEOUT", "1")
        sentence = f"{address}: the Dask scheduler has no workers; start some with  dask worker {address}"
        with pytest.raises(UnreachableError, match=sentence), scale.connect(address):
            pass


def test_workers_that_never_come_back_are_one_sentence(monkeypatch):
    with running_scheduler() as (_, address), running_worker(address) as worker, scale.connect(address):
        monkeypatch.setenv("NEARFAR_DASK_WORKER_TIMEOUT", "2")
        sentence = "has had no worker for 2 seconds, while counting answers"
        killer = KillAt("counting answers", worker.pid, 1)
        with nf.progress.listen(killer), pytest.raises(UnreachableError, match=sentence):
            scale.FeatureMap("k1").fit(slow_answers(made_answers(), 40, 0.2))


def test_a_worker_with_another_version_is_one_sentence(tmp_path):
    other = tmp_path / "nearfar-9.9.9.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: nearfar\nVersion: 9.9.9\n")
    with running_scheduler() as (_, address), running_worker(address, PYTHONPATH=str(tmp_path)):
        here = version("nearfar")
        sentence = rf"{address}: worker .* has nearfar 9\.9\.9 \(here {here}\); install the same"
        with pytest.raises(InputError, match=sentence), scale.connect(address):
            pass


def test_another_python_is_never_sent_a_function():
    """It may crash on one: bytecode is not the same in all of them. So Dask's own question comes first."""

    class OtherCluster:
        scheduler = SimpleNamespace(address="tcp://there:8786")
        status = "running"

        def get_versions(self, packages):
            here = distributed.versions.get_versions(packages)
            there = {"packages": here["packages"] | {"python": "3.99.1.final.0"}}
            return {"client": here, "scheduler": here, "workers": {"tcp://there:1": there}}

        def run(self, function, workers=None):
            raise AssertionError("sent a function")

        run_on_scheduler = run

    with pytest.raises(InputError, match=r"a: worker tcp://there:1 has python 3\.99\.1 \(here 3\.[0-9.]+\)"):
        check_versions(OtherCluster(), "a")


def test_a_worker_without_nearfar_is_one_sentence(bare):
    """Without ``site``, Python does not look into the folder of this environment."""
    with running_scheduler() as (_, address), running_worker(address, "-S", **bare):
        sentence = f"{address}: worker .* has no nearfar; install version [0-9.]+ there, from the checkout"
        with pytest.raises(InputError, match=sentence), scale.connect(address):
            pass
    with running_scheduler("-S", **bare) as (_, address), running_worker(address):
        sentence = (
            f"{address}: the scheduler has no nearfar; install version [0-9.]+ there, from the checkout"
        )
        with pytest.raises(InputError, match=sentence), scale.connect(address):
            pass


def test_a_frozen_scheduler_is_one_sentence(monkeypatch, dask_says):
    """Its process is there and its port open, but it does nothing any more."""
    with running_scheduler() as (started, address), running_worker(address), scale.connect(address):
        monkeypatch.setenv("NEARFAR_DASK_REPLY_TIMEOUT", "5")
        freezer = threading.Timer(1.0, os.kill, [started.pid, signal.SIGSTOP])
        freezer.start()
        sentence = f"{address}: the Dask scheduler has not replied for 5 seconds; see whether its process"
        with pytest.raises(UnreachableError, match=sentence):
            scale.FeatureMap("k1").fit(slow_answers(made_answers(), 60, 0.3))
        freezer.join()
    assert dask_says.getvalue() == ""


def test_a_frozen_worker_is_one_sentence(monkeypatch, dask_says):
    """Its process is there, and the scheduler counts on it, but it does nothing any more."""
    with running_scheduler() as (_, address), running_worker(address) as worker, scale.connect(address):
        monkeypatch.setenv("NEARFAR_DASK_WORKER_TIMEOUT", "4")
        freezer = threading.Timer(1.0, os.kill, [worker.pid, signal.SIGSTOP])
        freezer.start()
        sentence = (
            f"{address}: the Dask scheduler has heard of none of its 1 workers for 4 seconds, while counting answers was under way; "
            "see whether they are frozen"
        )
        with pytest.raises(UnreachableError, match=sentence):
            scale.FeatureMap("k1").fit(slow_answers(made_answers(), 60, 0.3))
        freezer.join()
        os.kill(worker.pid, signal.SIGCONT)
    assert dask_says.getvalue() == ""


def test_work_of_a_frozen_worker_is_done_by_another(monkeypatch):
    """Dask gives a silent worker up after distributed.scheduler.worker-ttl, five minutes unless set otherwise.

    On a busy machine a process that imports nearfar with its first task is silent for longer than that: scheduler and
    workers import it before they begin. Our own deadlines, which other tests are about, are far away here.
    """
    for deadline in ("REPLY", "WORKER"):
        monkeypatch.setenv(f"NEARFAR_DASK_{deadline}_TIMEOUT", "300")
    for role in ("SCHEDULER", "WORKER"):
        monkeypatch.setenv(
            f"DASK_DISTRIBUTED__{role}__PRELOAD", "['nearfar.scale.feature_map', 'scale_tools']"
        )
    triplets = made_answers()
    with (
        running_scheduler(DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL="12s") as (_, address),
        running_worker(address) as worker,
        running_worker(address),
        scale.connect(address) as client,
    ):
        client.wait_for_workers(2)
        freezer = threading.Timer(1.0, os.kill, [worker.pid, signal.SIGSTOP])
        freezer.start()
        phi = scale.FeatureMap("k1").fit(slow_answers(triplets, 20, 0.3)).features_.to_array()
        freezer.join()
        os.kill(worker.pid, signal.SIGKILL)
    assert np.array_equal(dense(phi), dense(nf.FeatureMap("k1").fit_transform(triplets)))


def test_a_worker_without_nearfar_that_joins_later_is_one_sentence(bare):
    with running_scheduler() as (_, address), running_worker(address), scale.connect(address) as client:
        scale.FeatureMap("k1").fit(made_answers())
        with running_worker(address, "-S", **bare):
            client.wait_for_workers(2)
            with pytest.raises(InputError, match=f"{address}: worker .* has no nearfar; install version"):
                scale.FeatureMap("k1").fit(made_answers())


def test_tasks_that_the_scheduler_drops_are_one_sentence():
    """It cannot read a task whose parts it cannot import."""
    answers = slow_answers(made_answers(), 3, 0.1)
    with running_scheduler(PYTHONPATH="") as (_, address), running_worker(address), scale.connect(address):
        sentence = rf"{address}: the Dask scheduler gave up counting answers \(lost dependencies\); its log"
        with pytest.raises(UnreachableError, match=sentence):
            scale.FeatureMap("k1").fit(answers)


def test_without_a_client_the_way_to_one_is_named():
    with pytest.raises(
        InputError,
        match=r"there is neither a Dask client nor a scratch folder; open one first.*connect\('local'\)",
    ):
        scale.FeatureMap("k1").fit([[0, 1, 2]])


@pytest.mark.parametrize(
    ("other", "ends"), [(None, True), ({"memory": 3}, True), ({"memory": 3, "executing": 1}, False)]
)
def test_paused_workers_are_one_sentence(monkeypatch, other, ends):
    """They send heartbeats, as idle workers do: nothing is done while these wait for what a paused one was given."""
    monkeypatch.setenv("NEARFAR_DASK_WORKER_TIMEOUT", "0.2")
    workers = {"one": {"status": "paused", "last_seen": 0.0}}
    if other is not None:
        workers["two"] = {"status": "running", "last_seen": 0.0, "metrics": {"task_counts": other}}

    def ask(question):
        for worker in workers.values():
            worker["last_seen"] += 1.0
        return {"workers": workers}

    client = SimpleNamespace(scheduler=SimpleNamespace(identity=None))
    pulse = _Pulse(SimpleNamespace(address="a", client=client, _ask=ask), "counting answers")

    def wait():
        for _ in range(20):
            time.sleep(0.05)
            pulse.check()

    with (
        pytest.raises(UnreachableError, match=f"1 of its {len(workers)} workers paused")
        if ends
        else nullcontext()
    ):
        wait()
