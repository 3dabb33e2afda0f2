"""The rows of ``statements`` -> the table of docs/honesty.md, and the long table beside the rows; docs/figures/honesty.py plots them.

python -m benchmarks.honesty.tables    fills what stands between the marks of the page
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks._measure import KEPT, SMALL, fill
from nearfar.words.models import MIN_CORRELATION

ROWS = KEPT / "honesty" / "statements.jsonl"
Row = dict[str, Any]


def _unclustered(row: Row) -> bool:
    """Whether a row has no clusters to find; objects of a tree fall into its branches, so nothing is promised of them."""
    return not row["clusters"] and row["geometry"] != "tree"


def _with_others(row: Row) -> bool:
    """Whether a map correlation with new participants is reported: not of few, booklets, or few different questions."""
    return row["design"] not in ("few participants", "blocks", "list")


NOTHING, OTHERS, SEEDS = "nothing", "other studies", "other seeds"
# share of studies (of objects, of participants) that a target allows
TARGETS = {"95 %": (0.95, 1.0), "90 %": (0.9, 1.0), "at least 80 %": (0.8, 1.0), "at most 5 %": (0.0, 0.05)}
# kind of claim -> what the page calls it, key of a row, which rows, nominal level, what its constants were tuned on
CLAIMS: dict[str, list[tuple[str, str, Callable[[Row], bool], str, str]]] = {
    "Coverage: how often the truth was inside": [
        ("accuracy, 95 % interval", "accuracy_covered", lambda r: r["check"] == "judged", "95 %", NOTHING),
        ("ceiling, 95 % interval", "ceiling_covered", lambda r: True, "95 %", OTHERS),
        (
            "agreement of two participants, 95 % interval",
            "two_agree_covered",
            lambda r: True,
            "95 %",
            NOTHING,
        ),
        ("gain from twice the answers, 95 % interval", "gain_covered", lambda r: True, "95 %", OTHERS),
        (
            "accuracy interval with twice the participants: no wider than predicted",
            "narrower_as_stated",
            lambda r: True,
            "95 %",
            NOTHING,
        ),
        (
            "map correlation with a new study (new participants): within 0.1",
            "reliability_within",
            _with_others,
            "95 %",
            SEEDS,
        ),
        (
            "map correlation with a new study (new participants): true value below 0.9 where 'less than 0.9' is reported",
            "reliability_below",
            _with_others,
            "95 %",
            SEEDS,
        ),
        ("circle on the map: long-run position inside", "inside_circle", lambda r: True, "90 %", OTHERS),
        (
            "place on a scale: long-run place inside its 95 % interval",
            "inside_scale",
            lambda r: True,
            "95 %",
            NOTHING,
        ),
        ("agreement of a participant, 95 % interval", "agreement_covered", lambda r: True, "95 %", NOTHING),
        (
            "comparison of two groups: accuracy of a group's own model minus that of the other group's model, 95 % interval",
            "lead_covered",
            lambda r: True,
            "95 %",
            NOTHING,
        ),
        (
            "the truly best model is not reported as clearly worse than the study's most accurate model",
            "true_best_kept",
            lambda r: True,
            "95 %",
            NOTHING,
        ),
        (
            "number of clusters right, when clusters are reported",
            "clusters_right",
            lambda r: True,
            "95 %",
            OTHERS,
        ),
        (
            "cluster stability within 0.1 of its value in replications",
            "kept_within",
            lambda r: True,
            "no target",
            NOTHING,
        ),
        (
            "accuracy predicted from a pilot: within 5 points",
            "advice_within",
            lambda r: True,
            "no target",
            NOTHING,
        ),
        (
            "gain predicted from a pilot: within 1 point",
            "advised_gain_within",
            lambda r: True,
            "no target",
            NOTHING,
        ),
    ],
    "False claims: how often something was reported that is not there": [
        (
            "accuracy declared above guessing when all participants guess",
            "called_better_than_guessing",
            lambda r: True,
            "at most 5 %",
            NOTHING,
        ),
        (
            "number of dimensions overestimated",
            "more_dimensions_than_there_are",
            lambda r: True,
            "at most 5 %",
            OTHERS,
        ),
        ("clusters reported when there are none", "clusters_stated", _unclustered, "at most 5 %", OTHERS),
        (
            "subgroups reported when there are none",
            "subgroups_stated",
            lambda r: r["subgroups"] == 1,
            "at most 5 %",
            OTHERS,
        ),
        (
            "groups declared different when they are not, or differ in noise only",
            "groups_called_different",
            lambda r: r["subgroups"] == 1,
            "at most 5 %",
            SEEDS,
        ),
        (
            "at least one object reported as placed differently in two groups, although it is not",
            "unmoved_named",
            lambda r: True,
            "at most 5 %",
            NOTHING,
        ),
        ("attentive participants flagged", "attentive_named", lambda r: True, "at most 5 %", OTHERS),
    ],
    "Power: how often something was reported that is there": [
        (
            "guessers flagged, 60 statements each",
            "guesser_named",
            lambda r: True,
            "at least 80 %",
            OTHERS,
        ),
        ("opposite answerers flagged", "opposite_named", lambda r: True, "at least 80 %", OTHERS),
        ("one-sided participants flagged", "one-sided_named", lambda r: True, "at least 80 %", OTHERS),
        (
            "clusters reported when there are some",
            "clusters_stated",
            lambda r: r["clusters"] > 0,
            "no target",
            OTHERS,
        ),
        (
            "subgroups reported when there are two",
            "subgroups_stated",
            lambda r: r["subgroups"] == 2,
            "no target",
            OTHERS,
        ),
        (
            "groups declared different when they are",
            "groups_called_different",
            lambda r: r["subgroups"] == 2,
            "no target",
            SEEDS,
        ),
        (
            "objects placed differently in two groups are reported",
            "moved_named",
            lambda r: True,
            "no target",
            NOTHING,
        ),
    ],
}
Measured = list[tuple[str, str, str, str, dict[str, list[float]]]]


def condition(row: Row) -> str:
    """What a row is a repetition of."""
    words = [row["design"], row["geometry"], f"{row['n_participants']} x {row['per_participant']}"]
    words += [f"{kind} {row[kind]:g}" for kind in ("guessers", "opposite", "sided", "clusters") if row[kind]]
    words += ["two subgroups"] * (row["subgroups"] > 1)
    words += ["half of the participants noisy"] * (row.get("noise", 1) > 1)
    return ", ".join(words)


def read_rows() -> list[Row]:
    """One row per simulated study, with whether its map correlations were as stated: within 0.1, or below 0.9."""
    rows = [json.loads(line) for line in ROWS.read_text().splitlines()]
    for row in rows:
        stated, true = row.get("reliability"), row.get("true_reliability")
        if stated is not None and true is not None and np.isfinite([stated, true]).all():
            if stated >= MIN_CORRELATION:
                row["reliability_within"] = float(abs(stated - true) <= 0.1)
            else:
                row["reliability_below"] = float(true < 0.9)
    return rows


def measured(rows: list[Row]) -> Measured:
    """Kind of claim, claim, nominal level, what it was tuned on, and the values of every condition."""
    claims = []
    for kind, of_kind in CLAIMS.items():
        for name, key, of, nominal, tuned in of_kind:
            values: dict[str, list[float]] = defaultdict(list)
            for row in rows:
                if row.get(key) is not None and of(row):
                    values[condition(row)].append(row[key])
            if values:
                claims.append((kind, name, nominal, tuned, dict(values)))
    return claims


def _share(value: float, nominal: str) -> str:
    """As a percentage, bold where the target is missed."""
    low, high = TARGETS.get(nominal, (0.0, 1.0))
    text = f"{100 * value:.1f} %"
    return text if low <= value <= high else f"**{text}**"


def table(claims: Measured, least: int = 1) -> str:
    """The table of the page: pooled, and the worst of the conditions with at least so many cases."""
    lines = [
        "| claim | target | pooled | worst condition | tuned on | tested on |",
        "|---|---|---:|---:|---|---:|",
    ]
    last = ""
    for kind, name, nominal, tuned, values in claims:
        if kind != last:
            lines.append(f"| *{kind}* | | | | | |")
            last = kind
        means = [float(np.mean(each)) for each in values.values() if len(each) >= least]
        pooled = _share(float(np.mean(np.concatenate(list(values.values())))), nominal)
        worst = _share((max if "at most" in nominal else min)(means), nominal) if means else ""
        lines.append(
            f"| {name} | {nominal} | {pooled} | {worst} | {tuned} | {sum(map(len, values.values()))} studies |"
        )
    return "\n".join(lines)


CONDITIONS = """\
"30 x 80": 30 participants with 80 answers each. Designs: "random" (new random questions for every participant), "pool" (each gets some of
480 random questions), "list" (of the same 100 questions), "blocks" (booklets, each with a quarter of the objects), "landmarks" (both
options come from the same 8 objects), "odd" (odd one out of three), "grid" (choose 2 of 6), "few participants" (6), "no names"
(participants not known). Geometries: "heavy tails" (some objects lie far out), "curve" (along a bent line), "tree" (leaves of a random
tree), "sheet" (a plane). "guessers 0.1": 10 % of participants guess; "opposite": choose the farther option; "sided": nearly always choose
the left one; "clusters 2": two true clusters; "two subgroups": each attends to half of the dimensions.
"""


def long_table(claims: Measured) -> str:
    """Every claim in every condition."""
    lines = [
        "# How often claims held, by condition",
        "",
        CONDITIONS,
        "| claim | tuned on | condition | mean | studies |",
        "|---|---|---|---:|---:|",
    ]
    for _, name, _, tuned, values in claims:
        lines += [
            f"| {name} | {tuned} | {each} | {np.mean(v):.3f} | {len(v)} |"
            for each, v in sorted(values.items())
        ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the page and the long table."""
    claims = measured(read_rows())
    fill("honesty", table(claims), "statements")
    if not SMALL:
        ROWS.with_suffix(".md").write_text(long_table(claims))


if __name__ == "__main__":
    main()
