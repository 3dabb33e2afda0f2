"""Every benchmark that the documentation names, small enough for a test: its arguments, and what is patched in it."""

import importlib
import shutil
import sys
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
from benchmarks.honesty import _run

import nearfar as nf

REAL = ("car", "food", "musicians", "things")
DIGITS = ("usps", "mnist")


def run_small(name, folder, patch):
    """Run ``main`` of a benchmark as its command would, small, with everything it keeps below ``folder``."""
    module = importlib.import_module(name)
    patch.setattr("benchmarks._measure.RESULTS", folder)
    patch.setattr("benchmarks.streaming.folder", lambda n_objects: folder / f"answers-{n_objects}")
    arguments, changes = SMALL[name]
    patch.setattr(sys, "argv", [name, *(word.format(folder=folder) for word in arguments)])
    _small_sets(folder, patch)
    patch.setattr(nf.scale, "connect", in_this_process)
    if name.startswith("benchmarks.honesty."):  # cells that were simulated are not simulated again
        shutil.copytree(_run.RESULTS / "honesty", folder / "honesty")
        patch.setattr(_run, "RESULTS", folder)
    for where, value in changes.items():
        patch.setattr(module, where, value)
    for where, make in WITH_FOLDER.get(name, {}).items():
        patch.setattr(module, where, make(folder, module))
    module.main()


def _small_sets(folder, patch):
    """Small answers and pictures in the place of the real ones."""
    for name in (*REAL, *DIGITS):
        (folder / "data" / name).mkdir(parents=True)
        given = small_answers() if name in REAL else None
        images = None if name in REAL else np.random.default_rng(0).normal(size=(60, 4, 4))
        found = SimpleNamespace(triplets=given, images=images)
        patch.setattr(nf.datasets, f"fetch_{name}", lambda place, found=found: found)


def small_answers(n=30, m=400):
    """Answers of ten people about points in the plane."""
    points = np.random.default_rng(0).normal(size=(n, 2))
    given = nf.simulate.answers(nf.design.random_questions(n, m), points=points, noise=0.2).triplets
    return given.replace(participant=[f"p{i % 10}" for i in range(len(given))])


def here(module, function, *arguments, timeout=None):
    """``in_child`` without the child: what is patched holds."""
    found = getattr(importlib.import_module(module), function)(*arguments) or {}
    return {"seconds": 1.0, "peak_bytes": 2, "base_bytes": 1, **found}


def _smaller(name, *sizes):
    """A maker of answers that makes few, however many are asked for."""

    def make(folder, module):
        real = getattr(module, name)
        return lambda *given, **named: real(*sizes)

    return make


def _shared(folder, module):
    return folder / "data"


@contextmanager
def in_this_process(address):
    """``nearfar.scale.connect`` to a worker that is a thread, and there at once."""
    from distributed import Client

    with Client(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None, set_as_default=True
    ) as client:
        yield client


def _nothing(folder, module):
    return folder / "no data"


def _page(folder, module):
    copy = folder / "honesty.md"
    copy.write_text(module.PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    return copy


def _parquet_files(folder, module):
    """Two files of answers in row groups, as the files of the real size have them."""

    def make_files(n_answers, n_objects):
        from benchmarks.streaming import answers

        points = np.random.default_rng(0).normal(size=(n_objects, 2)).astype(np.float32)
        paths = [folder / f"{number}.parquet" for number in range(2)]
        for number, path in enumerate(paths):
            answers(points, 16_000, number).write_parquet(path, row_group_size=2_000)
        return [str(path) for path in paths]

    return make_files


def _once(folder, module):
    return lambda work, repeat=1: (work(), 1.0)[1]


def _each_once(folder, module):
    return lambda works, repeat=1: {name: (work(), 1.0)[1] for name, work in works.items()}


def _few_digits(folder, module):
    return lambda seed: (small_answers().array, small_answers(m=50).array)


def _results(name):
    return lambda folder, module: folder / name


FEW = ("score", "tste-2", "soe-3")
SMALL = {
    "benchmarks.accuracy.auto": (["food"], {"SPLITS": 1, "candidates": lambda n: FEW}),
    "benchmarks.accuracy.embeddings_landmarks": ([], {"LANDMARKS": [(40, 6, 10, 0.1, 2)], "SEEDS": 1}),
    "benchmarks.accuracy.embeddings_pull": (
        [],
        {"TIMES": (0.0, 1.0), "PARTS": dict.fromkeys(REAL, 1), "SIMULATED": [(20, 100, 0.1, 1)]},
    ),
    "benchmarks.accuracy.embeddings_scale": (
        ["SOE"],
        {"OBJECTS": 200, "ANSWERS": 4_000, "HELD_OUT": 500, "in_child": here},
    ),
    "benchmarks.accuracy.leak": ([], {}),
    "benchmarks.accuracy.random_collections": ([], {"N": 50, "ANSWERS": 600, "TESTS": 100, "SEEDS": 1}),
    "benchmarks.accuracy.score_variants": (
        ["--quick"],
        {"FOLDS": 2, "OBJECTS": 60, "ANSWERS": 2_000, "TESTS": 200},
    ),
    "benchmarks.ask": (["3"], {"SECONDS": 1.0, "PAUSE": 0.05}),
    "benchmarks.ask_faults": (["1"], {}),
    "benchmarks.core": ([], {"in_child": here}),
    "benchmarks.cost_model": ([], {"OBJECTS": 400, "in_child": here}),
    "benchmarks.honesty.accuracy": (["1"], {}),
    "benchmarks.honesty.advice": (["1"], {}),
    "benchmarks.honesty.groups": (["1"], {}),
    "benchmarks.honesty.tables": ([], {}),
    "benchmarks.honesty.tastes": (["1"], {}),
    "benchmarks.methods": (["--small"], {"SMALLER": 500, "STARTS": 1, "in_child": here}),
    "benchmarks.on_disk": (["--largest", "2000", "--folder", "{folder}"], {"in_child": here}),
    "benchmarks.reading": ([], {"ROWS": 2_000, "REPEAT": 1, "in_child": here}),
    "benchmarks.scale": (
        ["--answers", "4000", "--objects", "200", "--rounds", "1"],
        {"limits": dict, "in_child": here, "_seconds_of_a_task": lambda client: 0.001},
    ),
    "benchmarks.start_up": (
        [],
        {
            "RUNS": 1,
            "COMMANDS": [("--help", "import typer", 0.25), ("check answers.csv", "import polars", 1.0)],
        },
    ),
    "benchmarks.streaming": (["--answers", "4000", "--objects", "200"], {}),
}
WITH_FOLDER = {
    "benchmarks.accuracy.auto": {"SHARED": _shared, "RESULTS": _results("auto.json")},
    "benchmarks.accuracy.embeddings_landmarks": {"SHARED": _shared},
    "benchmarks.accuracy.embeddings_pull": {"SHARED": _shared, "digits": _few_digits},
    "benchmarks.accuracy.leak": {"SHARED": _shared},
    "benchmarks.accuracy.random_collections": {"SHARED": _shared, "best_of": _once},
    "benchmarks.accuracy.score_variants": {"SHARED": _shared, "RESULTS": _results("")},
    "benchmarks.ask": {"RESULTS": _results("ask.json")},
    "benchmarks.ask_faults": {"RESULTS": _results("ask_faults.json")},
    "benchmarks.core": {
        "SHARED": _shared,
        "random_answers": _smaller("random_answers", 50, 2_000),
        "landmark_answers": _smaller("landmark_answers", 60, 6, 2_000),
        "best_of": _once,
        "side_by_side": _each_once,
    },
    "benchmarks.cost_model": {"make_files": _parquet_files},
    "benchmarks.honesty.tables": {"PAGE": _page},
    "benchmarks.methods": {"SHARED": _nothing},
}
