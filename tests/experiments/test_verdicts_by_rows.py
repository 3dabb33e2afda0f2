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


def published(factor):
    return lambda row: {"seconds": factor * row["seconds"]} if row.get("start") == "published" else {}


def kept(alike):
    return lambda row: {"like_kept": alike} if "like_kept" in row else {}


def of_k1(k1, other, **more):
    return lambda row: {"seconds": k1 if row["method"] == "k1" else other, **more}


HOLDS, PARTLY, FAILS = "holds", "holds in part", "does not hold"
CASES = {
    ("figure2", "k1 is not monotone"): [
        (lambda row: {}, HOLDS),
        (lambda row: {"k1_x1_x2": row["k1_x1_x2"] - 0.1}, PARTLY),  # the limit is not reached
        (lambda row: {"k1_x1_x2": 0.99}, FAILS),  # nor is it approached
    ],
    ("figure3", "kernels follow the distances"): [
        (lambda row: {}, HOLDS),
        (lambda row: {"k2_rank": 0.4}, PARTLY),
        (lambda row: {"k2_rank": 0.4, "k1_rank": row["k1_rank"] - 0.4}, FAILS),
    ],
    ("complexity", "cost of a kernel matrix"): [
        (lambda row: {}, HOLDS),
        (lambda row: {"seconds": row["n"] ** 3}, FAILS),
    ],
    ("food", "far faster than GNMDS"): [
        (published(1.0), HOLDS),
        (published(0.04), PARTLY),
        (published(0.001), FAILS),
    ],
    ("food", "contradictions do little"): [(kept(0.95), HOLDS), (kept(0.6), PARTLY), (kept(0.2), FAILS)],
    ("car", "k2 gives a meaningful map of cars"): [
        (lambda row: {"neighbours": 0.9, "largest_class": 0.4}, HOLDS),
        (lambda row: {"neighbours": 0.5, "largest_class": 0.4}, PARTLY),
        (lambda row: {"neighbours": 0.4, "largest_class": 0.4}, FAILS),
    ],
    ("mnist_map", "faster at n = 20,000, both maps show digits"): [
        (of_k1(1.0, 10.0), HOLDS),
        (of_k1(1.0, 5.0), PARTLY),
        (of_k1(10.0, 1.0), FAILS),
        (of_k1(1.0, 10.0, neighbours=0.2), PARTLY),
        (lambda row: {"machine": int(row["method"] == "k1")}, "not judged"),
    ],
}


@pytest.mark.parametrize(("name", "claim"), CASES)
def test_every_claim_is_judged(name, claim, tmp_path):
    for change, expected in CASES[name, claim]:
        assert verdicts(name, change, tmp_path)[claim] == expected


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
