"""The paper's experiments: rows are kept, not computed twice, the same again; the page says what they say."""

import json
import re
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from experiments import _general_page, _methods, _mnist_page, _usps_page, figure1, figure3, usps
from experiments.__main__ import main
from experiments._catalogue import EXPERIMENTS
from experiments._data import Data
from experiments._experiment import Absent, Cell, Experiment, Section, key_of, seed_of, table, tidy
from experiments._page import write_page
from experiments._rows import average, spread, typical_seconds
from experiments._runner import Places, run
from experiments._store import Store
from scipy.stats import kendalltau

from nearfar.datasets import Digits

ROOT = Path(__file__).parents[1]


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
        rows.append([(places.rows / f"{experiment.name}.jsonl").read_text() for experiment in chosen])
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
    wanted = [{"method": "k1"}, {"method": "k2"}, {"method": "score"}]
    wanted += [{"method": "STE", "d": 2, "start": start} for start in ("random", "kernel")]
    wanted += [{"method": "GNMDS", "d": 2, "start": "plain"}]
    asked = [{"run": 0, "budget": 2_000, "flip": 0.1, "design": design} for design in ("landmark", "rand")]
    return [Cell(a | b) for a, b in product(asked, wanted)] + [
        Cell({"run": 0, "method": name}) for name in ("pixels", "chance")
    ]


def test_a_rerun_gives_the_same_rows_except_times(small_usps, tmp_path):
    experiment = Experiment("usps", "USPS", few_fits, usps.compute, _usps_page.section)
    rows = []
    for place in ("one", "two"):
        usps.collect.cache_clear()
        outcome = run([experiment], Places.below(tmp_path / place), small_usps, quick=False, quiet=True)
        assert outcome.failed == 0
        rows.append([without_times(row) for row in Store(tmp_path / place / "results", "usps").rows()])
    assert rows[0] == rows[1]
    found = rows[0]
    assert average(found, method="k1", design="landmark") > 0.95
    assert average(found, method="STE", design="rand", start="kernel") > 0.95
    assert average(found, method="chance") < 0.6 < average(found, method="pixels")


def test_cells_are_those_of_the_issue():
    cells = usps.cells(False)
    assert len({cell.key for cell in cells}) == len(cells)
    runs = Counter(
        cell.settings["run"]
        for cell in cells
        if cell.settings["method"] == "k1" and "flip" in cell.settings and "d" not in cell.settings
    )
    assert runs == dict.fromkeys(range(10), 2 * 2 * len(usps.BUDGETS))
    kinds = {
        (cell.settings.get("d"), cell.settings.get("design"))
        for cell in cells
        if cell.settings["method"] == "GNMDS"
    }
    assert kinds == set(product((2, 10), ("landmark", "rand")))
    assert {cell.settings["flip"] for cell in cells if "flip" in cell.settings} == {0.0, 0.3}
    assert (_methods.REPLICATES, _methods.ITERATIONS, usps.N, usps.N_LANDMARKS) == (5, 100, 1_000, 15)


# ---------------------------------------------------------------- numbers


def test_ideal_scores_by_their_definitions():
    d = np.linalg.norm(figure1.POINTS[:, None] - figure1.POINTS, axis=2)
    assert float(figure1.ideal_k1(d, 0, 6)) == pytest.approx(kendalltau(d[0], d[6]).statistic)
    naive = np.mean(
        [np.sign(d[i, 0] - d[i, j]) * np.sign(d[i, 6] - d[i, j]) for i in range(7) for j in range(7)]
    )
    assert float(figure1.ideal_k2(d, 0, 6)) == pytest.approx(naive)


def test_preference_counts_pairs():
    similar, together = np.array([0.9, 0.4, 0.4, 0.1]), np.array([True, False, True, False])
    pairs = [(a > b) + 0.5 * (a == b) for a in similar[together] for b in similar[~together]]
    assert figure3.preference(similar, together) == pytest.approx(np.mean(pairs))
    assert figure3.preference(similar, np.ones(4, dtype=bool)) is None


def test_averages():
    rows = [
        {"d": 2, "purity": 0.5, "seconds": 1.0},
        {"d": 2, "purity": 0.7, "seconds": 3.0, "cluster_seconds": 1.0},
    ]
    rows += [{"purity": 0.9, "seconds": 9.0}]
    assert average(rows, d=2) == pytest.approx(0.6)
    assert spread(rows, d=2) == pytest.approx(np.std([0.5, 0.7], ddof=1) / np.sqrt(2))
    assert typical_seconds(rows, d=2) == pytest.approx(2.5)
    assert average(rows, d=None) == 0.9
    assert np.isnan(average(rows, d=3))


def test_the_number_of_triplets_needed_is_where_purity_stays_good():
    rows = [
        {"method": "k1", "flip": 0.0, "budget": b, "purity": p}
        for b, p in ((10, 0.8), (30, 0.6), (100, 0.76), (300, 0.9))
    ]
    assert _general_page.reached(rows, {"method": "k1"}, 0.0) == 100
    assert _general_page.reached(rows[:2], {"method": "k1"}, 0.0) is None


# ---------------------------------------------------------------- verdicts


def usps_rows(gnmds_on_landmarks, k2=0.75, seconds=1.0):
    """Rows in which only what the test is about varies."""
    rows = [{"run": 0, "method": "chance", "purity": 0.42}, {"run": 0, "method": "pixels", "purity": 0.94}]
    for budget, design in product((5_000, 100_000), ("landmark", "rand")):
        base = {"run": 0, "budget": budget, "flip": 0.0, "design": design, "cluster_seconds": 0.0}
        rows += [
            base | {"method": name, "purity": p, "seconds": 0.05}
            for name, p in (("k1", 0.8), ("k2", k2), ("score", 0.8))
        ]
        for method, start in product(_methods.EMBEDDINGS, ("random", "kernel")):
            bad = method == "GNMDS" and design == "landmark"
            purity = gnmds_on_landmarks if bad else 0.8
            rows.append(
                base | {"method": method, "d": 2, "start": start, "purity": purity, "seconds": seconds}
            )
    return rows


@pytest.mark.parametrize(
    ("purity", "verdict"), [(0.43, "holds"), (0.6, "holds in part"), (0.795, "does not hold")]
)
def test_gnmds_on_landmarks_is_judged(purity, verdict):
    claims = _usps_page.section(usps_rows(purity), Data(Path())).claims
    assert next(claim for claim in claims if "GNMDS" in claim.paper).verdict == verdict


@pytest.mark.parametrize(
    ("k2", "verdict"), [(0.75, "holds"), (0.5, "holds in part"), (0.85, "does not hold")]
)
def test_k2_against_k1_is_judged(k2, verdict):
    claims = _usps_page.section(usps_rows(0.5, k2=k2), Data(Path())).claims
    assert next(claim for claim in claims if "k2 performs" in claim.paper).verdict == verdict


@pytest.mark.parametrize(
    ("seconds", "verdict"), [(1.0, "holds"), (0.1, "holds in part"), (0.01, "does not hold")]
)
def test_speed_is_judged(seconds, verdict):
    claims = _usps_page.section(usps_rows(0.5, seconds=seconds), Data(Path())).claims
    assert next(claim for claim in claims if "faster" in claim.paper).verdict == verdict


def test_competing_on_mnist_is_judged():
    def rows(k1):
        purity = {"k1": k1, "k2": 0.3, "score": 0.4, "pixels": 0.55}
        found = []
        for design, method in product(("landmark", "rand"), (*purity, *_methods.EMBEDDINGS)):
            start = (
                [{"d": 5, "start": s} for s in ("random", "kernel")]
                if method in _methods.EMBEDDINGS
                else [{}]
            )
            base = {
                "run": 0,
                "n": 1000,
                "design": design,
                "method": method,
                "purity": purity.get(method, 0.5),
                "seconds": 1.0,
            }
            found += [base | s for s in start]
        return found

    verdicts = [_mnist_page.section(rows(k1), Data(Path())).claims[0].verdict for k1 in (0.49, 0.46, 0.3)]
    assert verdicts == ["holds", "holds in part", "does not hold"]


# ---------------------------------------------------------------- the page


@pytest.fixture(scope="module")
def two_figures(tmp_path_factory):
    folder = tmp_path_factory.mktemp("paper")
    assert main(["figure1", "figure2", "--quick", "--jobs", "1", "--output", str(folder)]) == 0
    return folder


def test_the_page_is_made_from_rows(two_figures):
    page = (two_figures / "paper.md").read_text()
    assert "6 of 6 numbers are the same fractions." in page
    assert "| x1, x7 | -5/7 | -5/7 |" in page
    assert "Not run yet: `python -m experiments usps`." in page
    assert "quick run" in page
    for picture in re.findall(r"\]\((paper/\w+\.png)\)", page):
        assert 0 < (two_figures / picture).stat().st_size < 150_000
    assert len(re.findall(r"^!\[", page, re.M)) == 2
    assert str(two_figures) not in page


def test_the_same_rows_give_the_same_page(two_figures):
    before = (two_figures / "paper.md").read_text()
    assert main(["--quick", "--page", "--output", str(two_figures)]) == 0
    assert (two_figures / "paper.md").read_text() == before


def test_a_wrong_number_is_seen(two_figures, tmp_path):
    places = Places.below(tmp_path)
    places.rows.mkdir()
    text = (two_figures / "results" / "figure1.jsonl").read_text()
    (places.rows / "figure1.jsonl").write_text(text.replace('"ideal_k1": "1/3"', '"ideal_k1": "2/3"'))
    page = write_page([EXPERIMENTS["figure1"]], places, Data(tmp_path), quick=True).read_text()
    assert "5 of 6 numbers are the same fractions." in page
    assert "**Does not hold.**" in page


def test_pictures_are_drawn_again_only_when_rows_are_newer(two_figures):
    picture = two_figures / "paper" / "figure2.png"
    before = picture.stat().st_mtime_ns
    main(["--quick", "--page", "--output", str(two_figures)])
    assert picture.stat().st_mtime_ns == before
    rows = two_figures / "results" / "figure2.jsonl"
    picture.unlink()
    main(["--quick", "--page", "--output", str(two_figures)])
    assert picture.stat().st_mtime > rows.stat().st_mtime


def test_an_unknown_name_is_one_sentence(capsys):
    assert main(["figure9"]) == 2
    assert capsys.readouterr().err.startswith("experiments: 'figure9' is none of figure1, figure2,")


def test_tables_are_markdown():
    assert table(["a", "b"], [[1, 2]]).splitlines() == ["| a | b |", "|---|---:|", "| 1 | 2 |"]


# ---------------------------------------------------------------- what is committed


def committed():
    rows = Places.full().rows
    return [experiment for experiment in EXPERIMENTS.values() if (rows / f"{experiment.name}.jsonl").exists()]


@pytest.mark.parametrize("experiment", committed(), ids=lambda experiment: experiment.name)
def test_committed_rows_are_cells_and_the_page_says_what_they_say(experiment, tmp_path):
    store = Store(Places.full().rows, experiment.name)
    keys = {cell.key for cell in experiment.cells(False)}
    lines = [json.loads(line) for line in store.path.read_text().splitlines()]
    assert {key_of(line["cell"]) for line in lines} <= keys
    page = Places.full().page.read_text()
    for claim in experiment.section(store.rows(), Data(tmp_path)).claims:
        assert claim.ours in page
        assert f"**{claim.verdict.capitalize()}.**" in page


def test_nearfar_never_imports_experiments():
    sources = [path.read_text() for path in (ROOT / "src" / "nearfar").rglob("*.py")]
    assert not [text for text in sources if re.search(r"^\s*(from|import) experiments\b", text, re.M)]
