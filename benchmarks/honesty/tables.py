"""The rows of ``statements`` -> the table of docs/honesty.md, and the long table beside the rows; docs/figures/honesty.py plots them.

python -m benchmarks.honesty.tables    fills what stands between the marks of the page
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks._measure import KEPT, RESULTS, ROOT, SMALL

PAGE = ROOT / "docs" / "honesty.md"
ROWS = KEPT / "honesty" / "statements.jsonl"
Row = dict[str, Any]


def _unclustered(row: Row) -> bool:
    """Whether a row has no clusters to find; objects of a tree fall into its branches, so nothing is promised of them."""
    return not row["clusters"] and row["geometry"] != "tree"


def _with_others(row: Row) -> bool:
    """Whether anything is stated about the map of other participants: not of few, booklets, or few different questions."""
    return row["design"] not in ("few participants", "blocks", "list")


NOTHING, OTHERS = "nothing", "other studies"
# what the page calls it, key of a row, which rows, nominal level, what its constants were tuned on
STATEMENTS: list[tuple[str, str, Callable[[Row], bool], str, str]] = [
    ("accuracy, 95 % interval", "accuracy_covered", lambda r: r["check"] == "judged", "95 %", NOTHING),
    ("ceiling, 95 % interval", "ceiling_covered", lambda r: True, "95 %", OTHERS),
    ("gain from twice the answers, 95 % interval", "gain_covered", lambda r: True, "95 %", OTHERS),
    ("interval with twice the participants, at most", "narrower_as_stated", lambda r: True, "95 %", NOTHING),
    ("map of other participants, within 0.1", "reliability_within", _with_others, "95 %", "these studies"),
    (
        "map of other questions, within 0.1",
        "reliability_of_questions_within",
        lambda r: True,
        "95 %",
        NOTHING,
    ),
    (
        "more dimensions called needed than there are",
        "more_dimensions_than_there_are",
        lambda r: True,
        "at most 5 %",
        NOTHING,
    ),
    ("the truly best model is not called worse", "true_best_kept", lambda r: True, "95 %", NOTHING),
    ("circle around a position", "inside_circle", lambda r: True, "9 in 10 objects", OTHERS),
    (
        "above guessing, though all guess",
        "called_better_than_guessing",
        lambda r: True,
        "at most 5 %",
        NOTHING,
    ),
    ("guessers named, 60 statements each", "guesser_named", lambda r: True, "at least 80 %", OTHERS),
    ("opposite answerers named", "opposite_named", lambda r: True, "at least 80 %", OTHERS),
    ("one-sided participants named", "one-sided_named", lambda r: True, "at least 80 %", OTHERS),
    ("attentive participants named", "attentive_named", lambda r: True, "at most 5 %", OTHERS),
    (
        "subgroups stated, though there are none",
        "subgroups_stated",
        lambda r: r["subgroups"] == 1,
        "at most 5 %",
        OTHERS,
    ),
    ("subgroups stated, and there are two", "subgroups_stated", lambda r: r["subgroups"] == 2, "-", OTHERS),
    (
        "groups said to differ, though they do not",
        "groups_called_different",
        lambda r: r["subgroups"] == 1,
        "at most 5 %",
        NOTHING,
    ),
    (
        "groups said to differ, and they do",
        "groups_called_different",
        lambda r: r["subgroups"] == 2,
        "-",
        NOTHING,
    ),
    ("objects that moved between groups, named", "moved_named", lambda r: True, "-", NOTHING),
    ("any object named that did not move", "unmoved_named", lambda r: True, "at most 5 %", NOTHING),
    ("advice from a pilot: accuracy within 5 points", "advice_within", lambda r: True, "-", NOTHING),
    ("advice from a pilot: next gain within 1 point", "advised_gain_within", lambda r: True, "-", NOTHING),
    ("share kept in clusters: other studies within 0.1", "kept_within", lambda r: True, "-", NOTHING),
    ("clusters stated, though there are none", "clusters_stated", _unclustered, "at most 5 %", OTHERS),
    ("clusters stated, and there are some", "clusters_stated", lambda r: r["clusters"] > 0, "-", OTHERS),
    ("number of clusters right, where stated", "clusters_right", lambda r: True, "95 %", OTHERS),
]
Measured = list[tuple[str, str, str, dict[str, list[float]]]]


def condition(row: Row) -> str:
    """What a row is a repetition of."""
    words = [row["design"], row["geometry"], f"{row['n_participants']} x {row['per_participant']}"]
    words += [f"{kind} {row[kind]:g}" for kind in ("guessers", "opposite", "sided", "clusters") if row[kind]]
    return ", ".join([*words, "two subgroups"] if row["subgroups"] > 1 else words)


def measured(rows: list[Row]) -> Measured:
    """Statement, nominal level, what it was tuned on, and the values of every condition."""
    statements = []
    for name, key, of, nominal, tuned in STATEMENTS:
        values: dict[str, list[float]] = defaultdict(list)
        for row in rows:
            if row.get(key) is not None and of(row):
                values[condition(row)].append(row[key])
        if values:
            statements.append((name, nominal, tuned, dict(values)))
    return statements


def table(statements: Measured) -> str:
    """The table of the page: pooled, and the worst condition."""
    lines = [
        "| statement | nominal | pooled | worst condition | tuned on | tested on |",
        "|---|---|---:|---|---|---|",
    ]
    for name, nominal, tuned, values in statements:
        means = {each: float(np.mean(v)) for each, v in values.items()}
        pick = max if "at most" in nominal else min
        worst = pick(means, key=lambda each: means[each])
        pooled, studies = np.mean(np.concatenate(list(values.values()))), sum(map(len, values.values()))
        where = f" ({worst})" if means[worst] != float(pooled) else ""
        tested = f"{studies} studies, {len(means)} condition{'s' * (len(means) > 1)}"
        lines.append(
            f"| {name} | {nominal} | {pooled:.3f} | {means[worst]:.2f}{where} | {tuned} | {tested} |"
        )
    return "\n".join(lines)


def long_table(statements: Measured) -> str:
    """Every statement in every condition."""
    lines = [
        "# How often statements held, by condition",
        "",
        "| statement | condition | mean | studies |",
        "|---|---|---:|---:|",
    ]
    for name, _, _, values in statements:
        lines += [f"| {name} | {each} | {np.mean(v):.3f} | {len(v)} |" for each, v in sorted(values.items())]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the page and the long table."""
    rows = [json.loads(line) for line in ROWS.read_text().splitlines()]
    for row, key in ((row, key) for row in rows for key in ("reliability", "reliability_of_questions")):
        stated, true = row.get(key), row.get(f"true_{key}")
        if stated is not None and true is not None and np.isfinite([stated, true]).all():
            row[f"{key}_within"] = float(abs(stated - true) <= 0.1)
    statements = measured(rows)
    text = table(statements)
    page = re.sub(
        r"(<!-- statements -->\n).*?(<!-- end -->)",
        lambda marks: f"{marks[1]}{text}\n{marks[2]}",
        PAGE.read_text(),
        flags=re.DOTALL,
    )
    (RESULTS / "honesty.md" if SMALL else PAGE).write_text(page)
    if not SMALL:
        ROWS.with_suffix(".md").write_text(long_table(statements))


if __name__ == "__main__":
    main()
