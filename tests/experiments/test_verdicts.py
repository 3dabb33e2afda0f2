"""Verdicts are computed from rows, and every one of them can fail."""

from itertools import product
from pathlib import Path

import pytest
from experiments import _general_page, _map_page, _methods, _mnist_page, _usps_page
from experiments._data import Data
from experiments._rows import paired

DESIGNS = ("landmark", "landmark-k2", "rand")
HOLDS, PARTLY, FAILS = "holds", "holds in part", "does not hold"


def usps_rows(*, gnmds_on_landmarks=0.43, k2=0.75, seconds=1.0, leader=0.8, on_k2s=0.8, noise=2.0):
    """Rows in which only what the test is about varies."""
    rows = [{"run": 0, "method": "chance", "purity": 0.42}, {"run": 0, "method": "pixels", "purity": 0.94}]
    for budget, flip in product((5_000, 100_000), (0.0, 0.3)):
        base = {"run": 0, "budget": budget, "flip": flip, "cluster_seconds": 0.0}
        kernels = {"k1": 0.8, "k2": k2, "k1+k2": 0.8, "score": 0.8}
        rows += [
            base | {"design": "landmark", "method": m, "purity": p, "seconds": 0.05, "feature_seconds": 0.01}
            for m, p in kernels.items()
        ]
        # kernel PCA must not be pooled with kernel k-means
        rows.append(
            base | {"design": "landmark", "method": "k1", "d": 2, "purity": 0.1, "feature_seconds": 0.01}
        )
        for method, design, d in product(_methods.PUBLISHED, DESIGNS, (2, 10)):
            purity = on_k2s if design == "landmark-k2" else 0.8
            if method == "GNMDS" and design != "rand":
                purity = gnmds_on_landmarks
            if method == "TSTE" and design == "rand":
                purity = leader
            slow = seconds * (1 if d == 2 else 3) * (noise if flip else 1)
            fit = {"method": method, "design": design, "d": d, "start": "published", "purity": purity}
            rows.append(base | fit | {"seconds": slow})
        for method, design in product(_methods.EMBEDDINGS, ("landmark", "rand")):
            fit = {
                "method": method,
                "design": design,
                "d": 2,
                "start": "kernel",
                "purity": 0.8,
                "seconds": 0.01,
            }
            rows.append(base | fit)
    return rows


def verdict(claims, words):
    return next(claim.verdict for claim in claims if words in claim.paper)


@pytest.mark.parametrize(
    ("words", "what", "cases"),
    [
        ("GNMDS is not able", "gnmds_on_landmarks", {0.43: HOLDS, 0.6: PARTLY, 0.795: FAILS}),
        ("k2 performs slightly worse", "k2", {0.75: HOLDS, 0.5: PARTLY, 0.85: FAILS}),  # without kernel PCA
        ("On its own triplets k2", "on_k2s", {0.8: HOLDS, 0.7: FAILS}),
        ("no method is clearly superior", "leader", {0.8: HOLDS, 0.81: HOLDS, 0.85: FAILS}),
        ("far faster", "seconds", {1.0: HOLDS, 0.1: PARTLY, 0.01: FAILS}),  # matrix and embedding
        ("depends on its dimension", "noise", {2.0: HOLDS, 1.0: PARTLY}),
    ],
)
def test_every_claim_about_usps_is_judged(words, what, cases):
    for value, expected in cases.items():
        claims = _usps_page.section(usps_rows(**{what: value}), Data(Path())).claims
        assert verdict(claims, words) == expected


def test_the_gap_between_k1_and_k2_is_that_of_kernel_k_means():
    claims = _usps_page.section(usps_rows(k2=0.736), Data(Path())).claims
    assert "behind by 0.064 of purity" in next(c.ours for c in claims if "k2 performs" in c.paper)


def test_only_the_papers_methods_are_named():
    """Ours are much better here, and must not appear."""
    rows = usps_rows() + [
        row | {"purity": 0.99}
        for row in usps_rows()
        if row.get("start") == "kernel" or row["method"] == "score"
    ]
    section = _usps_page.section(rows, Data(Path()))
    said = " ".join(claim.ours for claim in section.claims)
    assert "score" not in said and "SOE" not in said and "STE 10-d," not in section.text.replace("t-STE", "")
    assert set(_usps_page.families(rows, [{"flip": 0.0, "budget": 5_000}])) == {
        "k1", "k2", *(f"{m}, {t}" for m in ("GNMDS", "CKL", "t-STE") for t in ("k1's triplets", "k2's triplets", "random triplets")),
    }  # fmt: skip


def mnist_rows(k1=0.5, rand=0.5, seconds=20.0):
    rows = [{"run": 0, "n": 1000, "method": "pixels", "purity": 0.55}]
    base = {"run": 0, "n": 1000}
    rows += [
        base | {"design": "landmark", "method": m, "purity": p}
        for m, p in (("k1", k1), ("k2", 0.3), ("score", 0.4))
    ]
    rows += [base | {"time": kernel, "seconds": 1.0} for kernel in _methods.KERNELS]
    for method, design in product(_methods.PUBLISHED, DESIGNS):
        purity = rand if method == "GNMDS" and design == "rand" else 0.45
        fit = {"design": design, "method": method, "d": 5, "start": "published", "purity": purity}
        rows.append(base | fit | {"seconds": seconds})
    return rows


@pytest.mark.parametrize(
    ("words", "what", "cases"),
    [
        ("competes", "k1", {0.49: HOLDS, 0.46: PARTLY, 0.3: FAILS}),
        ("best of all", "rand", {0.55: HOLDS, 0.4: FAILS}),
        ("factors of 20", "seconds", {20.0: HOLDS, 5.0: PARTLY, 0.5: FAILS}),
    ],
)
def test_every_claim_about_mnist_is_judged(words, what, cases):
    for value, expected in cases.items():
        claims = _mnist_page.section(mnist_rows(**{what: value}), Data(Path())).claims
        assert verdict(claims, words) == expected


def test_times_of_two_machines_are_not_compared():
    """The published programs were run on another machine than the kernels' matrices: no verdict, no seconds."""
    rows = [row | ({"machine": 1} if row.get("start") == "published" else {}) for row in mnist_rows()]
    claims = _mnist_page.section(rows, Data(Path())).claims
    assert [claim.verdict for claim in claims] == ["holds", "holds", "not judged"]
    # times of both on the second machine count, whatever the first one has
    slow = [row | {"machine": 1, "seconds": 3.0} for row in mnist_rows() if "time" in row]
    again = _mnist_page.section(rows + slow, Data(Path())).claims
    assert again[2].verdict == "holds in part" and "factors of 6.67 and 6.67" in again[2].ours
    rows = [row | ({"machine": 1} if row.get("start") == "published" else {}) for row in usps_rows()]
    assert _usps_page.section(rows, Data(Path())).claims == []


def test_competing_is_judged_on_the_same_draws_and_says_what_all_runs_give():
    more = [
        {"run": run, "n": 1000, "design": "landmark", "method": "k1", "purity": 0.495} for run in range(1, 5)
    ]
    claim = _mnist_page.section(mnist_rows(k1=0.44) + more, Data(Path())).claims[0]
    assert claim.verdict == "holds in part" and "by n: 1,000 +0.060" in claim.ours
    assert "k1 has 0.484 ± 0.011 and GNMDS 0.500, a lead of +0.016" in claim.why
    assert "by that the claim holds, so the verdict depends on the rule" in claim.why
    claim = _mnist_page.section(mnist_rows(k1=0.49) + more, Data(Path())).claims[0]
    assert claim.verdict == "holds" and "the same verdict" in claim.why


def test_large_n_is_the_larger_half_of_the_sizes():
    rows = [
        row | {"n": n} for n, k1 in ((4_000, 0.1), (6_000, 0.48), (10_000, 0.49)) for row in mnist_rows(k1=k1)
    ]
    claim = _mnist_page.section(rows, Data(Path())).claims[0]
    assert claim.verdict == "holds" and "from n = 6,000 on: +0.015" in claim.ours


def test_a_draw_counts_when_all_programs_were_run_on_it():
    rows = [row | {"run": run} for run in (0, 1) for row in mnist_rows()]
    rows = [row for row in rows if row["run"] == 0 or row.get("method") != "CKL"]
    assert {row["run"] for row in paired(rows, "n")} == {0}
    slow = [
        row | ({"seconds": 900.0} if row["run"] else {}) for row in rows if row.get("start") == "published"
    ]
    rest = [row for row in rows if row.get("start") != "published"]
    assert "factors of 20.00 and 20.00" in _mnist_page.section(rest + slow, Data(Path())).claims[2].ours


def test_no_verdict_without_its_rows():
    kernels = [row for row in mnist_rows() if row.get("start") != "published"]
    assert {claim.verdict for claim in _mnist_page.section(kernels, Data(Path())).claims} == {"not judged"}
    some = [
        row for row in mnist_rows() if row.get("method") != "CKL"
    ]  # GNMDS is there, the fastest may not be
    verdicts = [claim.verdict for claim in _mnist_page.section(some, Data(Path())).claims]
    assert verdicts == ["holds", "not judged", "not judged"]
    general = [
        {"run": 0, "budget": 10, "flip": flip, "method": m, "purity": 0.5, "coverage": 1.0}
        for flip, m in product((0.0, 0.3), ("k1", "k2"))
    ]
    assert _general_page.section(general, Data(Path())).claims == []
    usps = [row for row in usps_rows() if row.get("start") != "published"]
    assert _usps_page.section(usps, Data(Path())).claims == []
    k1 = {"method": "k1", "design": "landmark", "n": 9, "triplets": 9, "seconds": 1.0}
    claims = _map_page.section([k1 | {"neighbours": 0.5, "accuracy": 0.5}], Data(Path())).claims
    assert [claim.verdict for claim in claims] == ["not judged"]


def test_the_number_of_triplets_needed_is_where_purity_stays_good():
    rows = [
        {"method": "k1", "flip": 0.0, "budget": b, "purity": p}
        for b, p in ((10, 0.8), (30, 0.6), (100, 0.76), (300, 0.9))
    ]
    assert _general_page.reached(rows, {"method": "k1"}, 0.0) == 100
    assert _general_page.reached(rows[:2], {"method": "k1"}, 0.0) is None


@pytest.mark.parametrize(("needed", "expected"), [(30, "holds"), (3_000, "does not hold")])
def test_triplets_needed_are_judged(needed, expected):
    budgets = (10, 30, 100, 300, 1_000, 3_000)
    rows = [
        {
            "run": 0,
            "method": m,
            "flip": flip,
            "budget": b,
            "purity": 0.9 if b >= enough else 0.5,
            "coverage": 1.0,
        }
        | more
        for m, enough, more in (("k1", 300, {}), ("k2", 300, {}), ("GNMDS", needed, {"start": "published"}))
        for b, flip in product(budgets, (0.0, 0.3))
    ]
    assert verdict(_general_page.section(rows, Data(Path())).claims, "need more triplets") == expected
