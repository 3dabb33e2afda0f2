"""The paper's experiments: rows are kept, not computed twice, and the same again."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from experiments import _machine, _methods, mnist, usps
from experiments._catalogue import EXPERIMENTS
from experiments._data import Data
from experiments._experiment import Absent, Cell, Experiment, Section, key_of, seed_of, tidy
from experiments._rows import average
from experiments._runner import Places, run
from experiments._store import Store

from nearfar.datasets import Digits


def without_times(row):
    return {name: value for name, value in row.items() if not name.endswith("seconds")}


def counting(calls, compute=lambda settings: {"square": settings["n"] ** 2}, n=5):
    """An experiment of n cells that notes what it computes."""

    def noted(settings, data):
        calls.append(settings["n"])
        return compute(settings)

    return Experiment(
        "counting",
        "Counting",
        lambda quick: [Cell({"n": i}) for i in range(n)],
        noted,
        lambda rows, data: Section(""),
    )


# ---------------------------------------------------------------- the store


def test_rows_come_back(tmp_path):
    store = Store(tmp_path, "demo")
    store.add(Cell({"n": 1, "flip": 0.3}), {"purity": np.float64(1 / 3), "sizes": np.array([2, 1])})
    again = Store(tmp_path, "demo")
    assert again.rows() == [{"n": 1, "flip": 0.3, "purity": 0.3333, "sizes": [2, 1]}]
    assert Cell({"flip": 0.3, "n": 1}) in again
    assert Cell({"flip": 0.0, "n": 1}) not in again


def test_a_torn_line_costs_its_own_row_only(tmp_path):
    store = Store(tmp_path, "demo")
    for n in range(3):
        store.add(Cell({"n": n}), {"square": n * n})
    text = store.path.read_text()
    store.path.write_text(text[:-5])
    again = Store(tmp_path, "demo")
    assert [row["n"] for row in again.rows()] == [0, 1]
    again.add(Cell({"n": 2}), {"square": 4})
    assert Store(tmp_path, "demo").rows() == [{"n": n, "square": n * n} for n in range(3)]


def test_arrange_orders_and_drops(tmp_path):
    store = Store(tmp_path, "demo")
    for n in (3, 1, 2):
        store.add(Cell({"n": n}), {})
    store.arrange([Cell({"n": 1}), Cell({"n": 2}), Cell({"n": 9})])
    assert [row["n"] for row in store.rows()] == [1, 2]
    assert [row["n"] for row in Store(tmp_path, "demo").rows()] == [1, 2]


def test_keys_and_seeds_are_fixed():
    assert key_of({"b": 1, "a": 0.5}) == key_of({"a": 0.5, "b": 1}) == '{"a": 0.5, "b": 1}'
    assert seed_of("usps", 0) == 565294708
    assert seed_of("usps", 1) != seed_of("usps", 0)
    assert tidy({"a": (1, np.float32(0.5)), "b": float("inf")}) == {"a": [1, 0.5], "b": None}


def test_what_a_cell_took_and_where_is_kept_beside_its_results(tmp_path):
    store = Store(tmp_path, "demo")
    store.add(Cell({"n": 1}), {"seconds": 2.0, "cluster_seconds": 1.0, "purity": 0.5})  # as it was kept once
    store.add(Cell({"n": 2}), {"seconds": 2.0}, cpu_seconds=5.5, machine=1)
    store.add(Cell({"n": 3}), {"purity": 0.5}, cpu_seconds=0.25)
    again = Store(tmp_path, "demo")
    rest = ((5.5 - 2.0) + 0.25) / 2  # what the cells with both took beside what they timed
    assert again.cpu_seconds() == pytest.approx((5.5 + 0.25 + 3.0 + rest, 1))
    assert [row.get("machine") for row in again.rows()] == [None, 1, None]
    assert "cpu_seconds" not in again.rows()[1]


def test_machines_are_told_apart(tmp_path, monkeypatch):
    here = {"processor": "A", "cores": 2, "load": 1.5, "python": "3", "numpy": "2", "date": "2026-01-01"}
    monkeypatch.setattr(_machine, "machine", lambda: dict(here))
    assert _machine.machines(tmp_path) == []
    assert _machine.enlist(tmp_path) == 0
    here |= {"load": 0.5, "date": "2026-01-02"}
    assert _machine.enlist(tmp_path) == 0
    here |= {"processor": "B"}
    assert _machine.enlist(tmp_path) == 1
    first, second = _machine.machines(tmp_path)
    assert (first["load"], first["date"], second["processor"]) == (1.5, "2026-01-02", "B")
    run([counting([], n=1)], Places.below(tmp_path / "new"), Data(tmp_path), quick=False, quiet=True)
    monkeypatch.setattr("experiments._runner.enlist", lambda folder: 1)
    run([counting([], n=2)], Places.below(tmp_path / "new"), Data(tmp_path), quick=False, quiet=True)
    assert [row.get("machine") for row in Store(tmp_path / "new" / "results", "counting").rows()] == [None, 1]


# ---------------------------------------------------------------- the runner


def test_stored_cells_are_not_computed_again(tmp_path):
    calls = []
    places = Places.below(tmp_path)
    first = run([counting(calls)], places, Data(tmp_path), quick=False, quiet=True)
    again = run([counting(calls)], places, Data(tmp_path), quick=False, quiet=True)
    assert calls == [0, 1, 2, 3, 4]
    assert (first.computed, again.computed, again.stored) == (5, 0, 5)


def test_a_stopped_run_goes_on(tmp_path):
    calls, places = [], Places.below(tmp_path)

    def stop_at_three(settings):
        if settings["n"] == 3:
            raise KeyboardInterrupt
        return {"square": settings["n"] ** 2}

    with pytest.raises(KeyboardInterrupt):
        run([counting(calls, stop_at_three)], places, Data(tmp_path), quick=False, quiet=True)
    assert [row["n"] for row in Store(places.rows, "counting").rows()] == [0, 1, 2]
    run([counting(calls)], places, Data(tmp_path), quick=False, quiet=True)
    assert Counter(calls) == {0: 1, 1: 1, 2: 1, 3: 2, 4: 1}
    assert [row["square"] for row in Store(places.rows, "counting").rows()] == [0, 1, 4, 9, 16]


def test_a_failure_does_not_stop_the_rest_and_absent_data_is_tried_again(tmp_path, capsys):
    def compute(settings):
        if settings["n"] == 1:
            raise ValueError("broken")
        if settings["n"] == 2:
            raise Absent("no such file")
        return {}

    calls, places = [], Places.below(tmp_path)
    outcome = run([counting(calls, compute)], places, Data(tmp_path), quick=False, quiet=True)
    assert (outcome.computed, outcome.failed, outcome.absent) == (3, 1, 1)
    said = capsys.readouterr().err
    assert "ValueError: broken" in said
    assert "data is absent: no such file" in said
    assert run([counting(calls)], places, Data(tmp_path), quick=False, quiet=True).computed == 2


def test_warnings_of_a_cell_are_kept_in_its_row(tmp_path):
    import warnings

    def compute(settings):
        warnings.warn("thin", UserWarning, stacklevel=1)
        return {}

    run([counting([], compute, n=1)], Places.below(tmp_path), Data(tmp_path), quick=False, quiet=True)
    assert Store(tmp_path / "results", "counting").rows() == [{"n": 0, "warned": ["UserWarning"]}]


def test_rows_do_not_depend_on_the_number_of_processes(tmp_path):
    chosen = [EXPERIMENTS["figure1"], EXPERIMENTS["figure2"]]
    rows = []
    for jobs in (1, 2):
        places = Places.below(tmp_path / str(jobs))
        outcome = run(chosen, places, Data(tmp_path), quick=True, jobs=jobs, quiet=True)
        assert outcome.computed == 7
        rows.append([Store(places.rows, experiment.name).rows() for experiment in chosen])
    assert rows[0] == rows[1]


# ---------------------------------------------------------------- real cells, small


@pytest.fixture
def small_usps(monkeypatch, tmp_path):
    """Three groups of 16 x 16 pictures that are easy to tell apart, drawn here."""
    rng = np.random.default_rng(0)
    labels = np.repeat([1, 2, 3, 7], 40).astype(np.uint8)
    images = rng.normal(size=(4, 16, 16))[np.repeat(np.arange(4), 40)] + 0.3 * rng.normal(size=(160, 16, 16))
    data = Data(tmp_path)
    data.__dict__["usps"] = Digits(images.astype(np.float32), labels, 160)
    for name, value in {"N": 90, "N_LANDMARKS": 8, "RUNS": 1, "BUDGETS": (2_000,)}.items():
        monkeypatch.setattr(usps, name, value)
    yield data
    usps.sample.cache_clear()
    usps.collect.cache_clear()


def few_fits(quick):
    wanted = [{"method": "k1"}, {"method": "k2"}, {"method": "k1+k2"}, {"method": "score"}]
    wanted += [{"method": "STE", "d": 2, "start": "kernel"}]
    wanted += [{"method": method, "d": 2, "start": "published"} for method in _methods.PUBLISHED]
    asked = [{"run": 0, "budget": 2_000, "flip": 0.1, "design": design} for design in ("landmark", "rand")]
    k2s = {"run": 0, "budget": 2_000, "flip": 0.1, "design": "landmark-k2"}
    return (
        [Cell(a | b) for a, b in product(asked, wanted)]
        + [Cell(k2s | {"method": "TSTE", "d": 2, "start": "published"})]
        + [Cell({"run": 0, "method": name}) for name in ("pixels", "chance")]
    )


def test_a_rerun_gives_the_same_rows_except_times(small_usps, tmp_path):
    experiment = Experiment("usps", "USPS", few_fits, usps.compute)
    rows = []
    for place in ("one", "two"):
        usps.collect.cache_clear()
        outcome = run([experiment], Places.below(tmp_path / place), small_usps, quick=False, quiet=True)
        assert outcome.failed == 0
        rows.append([without_times(row) for row in Store(tmp_path / place / "results", "usps").rows()])
    assert rows[0] == rows[1]
    same = rows[0]
    assert average(same, method="k1", design="landmark") > 0.95
    assert average(same, method="STE", design="rand", start="kernel") > 0.95
    assert average(same, method="TSTE", design="landmark-k2", start="published") > 0.7
    assert average(same, method="chance") < 0.6 < average(same, method="pixels")


def test_rows_have_the_papers_clock(small_usps, tmp_path):
    """Seconds of a kernel matrix or an embedding; features and clusters apart."""
    experiment = Experiment("usps", "USPS", few_fits, usps.compute)
    run([experiment], Places.below(tmp_path), small_usps, quick=False, quiet=True)
    for row in Store(tmp_path / "results", "usps").rows():
        if row["method"] not in ("pixels", "chance"):
            assert row["seconds"] >= 0 and row["cluster_seconds"] >= 0
            assert ("feature_seconds" in row) == _methods.is_kernel(row["method"])


def test_k1_plus_k2_asks_both_kinds_of_questions():
    points = np.random.default_rng(0).normal(size=(30, 2))
    marks = np.arange(5, dtype=np.int32)
    given = _methods.ask(points, marks, "k1+k2", 100, 0.0, 0)
    other = (given.near >= 5) | (given.far >= 5)  # k2's questions; k1's compare landmarks only
    assert len(given) == 100
    assert (given.anchor[other] < 5).all()
    assert 40 <= other.sum() <= 50  # some of k2's fifty are about landmarks, too


def test_the_published_programs_are_those_of_the_paper():
    for method in _methods.PUBLISHED:
        settings = _methods.published(method, 10, 5).get_params()
        assert settings["regularization"] == 0 and settings["max_iter"] == 1000
    assert _methods.published("CKL", 2, 0).mu == 0.1
    assert _methods.published("TSTE", 10, 0).alpha == 9


def test_usps_cells_are_those_of_the_paper():
    cells = usps.cells(False)
    assert len({cell.key for cell in cells}) == len(cells)
    runs = Counter(
        cell.settings["run"]
        for cell in cells
        if cell.settings["method"] == "k1" and "flip" in cell.settings and "d" not in cell.settings
    )
    assert runs == dict.fromkeys(range(10), 2 * 2 * len(usps.BUDGETS))
    kinds = {
        (cell.settings["method"], cell.settings["d"], cell.settings["design"])
        for cell in cells
        if cell.settings.get("start") == "published"
    }
    assert kinds == set(product(("GNMDS", "CKL", "TSTE"), (2, 10), ("landmark", "landmark-k2", "rand")))
    assert {cell.settings["flip"] for cell in cells if "flip" in cell.settings} == {0.0, 0.3}
    assert (_methods.REPLICATES, _methods.ITERATIONS, usps.N, usps.N_LANDMARKS) == (5, 100, 1_000, 15)


def test_mnist_has_all_ten_sizes():
    settings = [cell.settings for cell in mnist.cells(False)]
    for wanted in ({"method": "k1"}, {"method": "k2"}, {"start": "published"}, {"time": "k1"}):
        sizes = {s["n"] for s in settings if all(s.get(name) == value for name, value in wanted.items())}
        assert sizes == set(range(1_000, 10_001, 1_000))
    assert len({cell.key for cell in mnist.cells(False)}) == len(settings)
