"""The verdicts that rest on few rows: the committed rows are changed until the claim fails."""

import pytest
from experiments._catalogue import EXPERIMENTS
from experiments._data import Data
from experiments._runner import Places
from experiments._store import Store


def verdicts(name, change, tmp_path):
    """What the page would say if every row were changed like that, claim by claim."""
    rows = [row | change(row) for row in Store(Places.full().rows, name).rows()]
    return {claim.short: claim.verdict for claim in EXPERIMENTS[name].section(rows, Data(tmp_path)).claims}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda row: {}, "holds"),
        (lambda row: {"k1_x1_x2": row["k1_x1_x2"] - 0.1}, "holds in part"),  # the limit is not reached
        (lambda row: {"k1_x1_x2": 0.99}, "does not hold"),  # nor is it approached
    ],
)
def test_the_chain_is_judged(change, expected, tmp_path):
    assert verdicts("figure2", change, tmp_path)["k1 is not monotone"] == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda row: {}, "holds"),
        (lambda row: {"k2_rank": 0.4}, "holds in part"),
        (lambda row: {"k2_rank": 0.4, "k1_rank": row["k1_rank"] - 0.4}, "does not hold"),
    ],
)
def test_the_toy_sets_are_judged(change, expected, tmp_path):
    assert verdicts("figure3", change, tmp_path)["kernels follow the distances"] == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [(lambda row: {}, "holds"), (lambda row: {"seconds": row["n"] ** 3}, "does not hold")],
)
def test_the_cost_is_judged(change, expected, tmp_path):
    assert verdicts("complexity", change, tmp_path)["cost of a kernel matrix"] == expected


@pytest.mark.parametrize(
    ("factor", "expected"), [(1.0, "holds"), (0.04, "holds in part"), (0.001, "does not hold")]
)
def test_speed_on_food_is_judged(factor, expected, tmp_path):
    def faster(row):
        return {"seconds": factor * row["seconds"]} if row.get("start") == "published" else {}

    assert verdicts("food", faster, tmp_path)["far faster than GNMDS"] == expected


@pytest.mark.parametrize(
    ("alike", "expected"), [(0.95, "holds"), (0.6, "holds in part"), (0.2, "does not hold")]
)
def test_contradictions_are_judged(alike, expected, tmp_path):
    def changed(row):
        return {"like_kept": alike} if "like_kept" in row else {}

    assert verdicts("food", changed, tmp_path)["contradictions do little"] == expected


@pytest.mark.parametrize(
    ("share", "expected"), [(0.9, "holds"), (0.5, "holds in part"), (0.4, "does not hold")]
)
def test_the_map_of_cars_is_judged(share, expected, tmp_path):
    changed = verdicts("car", lambda row: {"neighbours": share, "largest_class": 0.4}, tmp_path)
    assert changed["k2 gives a meaningful map of cars"] == expected


@pytest.mark.parametrize(
    ("fits", "expected"),
    [((0.7, 0.7), "holds"), ((0.5, 0.7), "holds in part"), ((0.5, 0.55), "does not hold")],
)
def test_scenes_would_be_judged_by_real_answers(fits, expected, tmp_path):
    class WithNature(Data):
        """Names are all that the section takes from the data."""

        @property
        def nature(self):
            names = [f"scene{i}" for i in range(120)]
            return type("Set", (), {"triplets": type("Answers", (), {"objects": names})})

    rows = [row | {"source": "nature"} for row in Store(Places.full().rows, "nature").rows()]
    rows = [row | ({"agreement": fits[row["map"] == "k1"]} if "map" in row else {}) for row in rows]
    (claim,) = EXPERIMENTS["nature"].section(rows, WithNature(tmp_path)).claims
    assert claim.verdict == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda row: {"seconds": 1.0 if row["method"] == "k1" else 10.0}, "holds"),
        (lambda row: {"seconds": 1.0 if row["method"] == "k1" else 5.0}, "holds in part"),
        (lambda row: {"seconds": 10.0 if row["method"] == "k1" else 1.0}, "does not hold"),
        (lambda row: {"seconds": 1.0 if row["method"] == "k1" else 10.0, "neighbours": 0.2}, "holds in part"),
        (lambda row: {"machine": int(row["method"] == "k1")}, "not judged"),
    ],
)
def test_the_maps_of_mnist_are_judged(change, expected, tmp_path):
    assert verdicts("mnist_map", change, tmp_path)["faster at n = 20,000, both maps show digits"] == expected
