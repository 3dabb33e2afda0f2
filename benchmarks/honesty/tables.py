"""The rows of ``statements`` -> the table of docs/honesty.md, its plot, and the long table beside the rows.

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


# statement: (what the page calls it, key of a row, which rows, what is promised, whether more is better)
STATEMENTS: list[tuple[str, str, Callable[[Row], bool], str]] = [
    ("accuracy, 95 % interval", "accuracy_covered", lambda r: r["check"] == "judged", "95 % hold"),
    ("ceiling, 95 % interval", "ceiling_covered", lambda r: True, "95 % hold"),
    ("gain from twice the answers, 95 % interval", "gain_covered", lambda r: True, "95 % hold"),
    ("the truly best model is not called worse", "true_best_kept", lambda r: True, "95 % hold"),
    ("circle around a position", "inside_circle", lambda r: True, "9 in 10 objects"),
    ("above guessing, where everybody guesses", "called_better_than_guessing", lambda r: True, "at most 5 %"),
    ("guessers named, 60 statements each", "guesser_named", lambda r: True, "at least 80 %"),
    ("opposite answerers named", "opposite_named", lambda r: True, "at least 80 %"),
    ("one-sided participants named", "one-sided_named", lambda r: True, "at least 80 %"),
    ("attentive participants named", "attentive_named", lambda r: True, "at most 5 %"),
    (
        "subgroups stated, where there are none",
        "subgroups_stated",
        lambda r: r["subgroups"] == 1,
        "at most 5 %",
    ),
    ("subgroups stated, where there are two", "subgroups_stated", lambda r: r["subgroups"] == 2, "-"),
    (
        "groups called different, where they are not",
        "groups_called_different",
        lambda r: r["subgroups"] == 1,
        "at most 5 %",
    ),
    (
        "groups called different, where they are",
        "groups_called_different",
        lambda r: r["subgroups"] == 2,
        "-",
    ),
    ("clusters stated, where there are none", "clusters_stated", _unclustered, "at most 5 %"),
    ("clusters stated, where there are some", "clusters_stated", lambda r: r["clusters"] > 0, "-"),
    ("number of clusters right, where stated", "clusters_right", lambda r: True, "95 % hold"),
]


def condition(row: Row) -> str:
    """What a row is a repetition of."""
    words = [
        row["check"],
        row["design"],
        row["geometry"],
        f"{row['n_participants']} x {row['per_participant']}",
    ]
    words += [f"{kind} {row[kind]:g}" for kind in ("guessers", "opposite", "sided", "clusters") if row[kind]]
    return ", ".join([*words, "two subgroups"] if row["subgroups"] > 1 else words)


def measured(rows: list[Row]) -> list[tuple[str, str, dict[str, list[float]]]]:
    """Statement, promise, and the values of every condition."""
    found = []
    for name, key, of, promise in STATEMENTS:
        values: dict[str, list[float]] = defaultdict(list)
        for row in rows:
            if row.get(key) is not None and of(row):
                values[condition(row)].append(row[key])
        if values:
            found.append((name, promise, dict(values)))
    return found


def table(found: list[tuple[str, str, dict[str, list[float]]]]) -> str:
    """The table of the page: pooled, and the worst condition."""
    lines = ["| statement | promised | pooled | worst condition | studies |", "|---|---|---:|---|---:|"]
    for name, promise, values in found:
        means = {each: float(np.mean(v)) for each, v in values.items()}
        pick = max if "at most" in promise else min
        worst = pick(means, key=lambda each: means[each])
        pooled, studies = np.mean(np.concatenate(list(values.values()))), sum(map(len, values.values()))
        lines.append(f"| {name} | {promise} | {pooled:.3f} | {means[worst]:.2f} ({worst}) | {studies} |")
    return "\n".join(lines)


def reliability(rows: list[Row]) -> str:
    """One sentence on split-half reliability."""
    pairs = np.array(
        [[r["reliability"], r["true_reliability"]] for r in rows if r.get("reliability") is not None]
    )
    pairs = pairs[np.isfinite(pairs).all(axis=1)]
    off = pairs[:, 0] - pairs[:, 1]
    return (
        f"Split-half reliability against the correlation of two whole studies: {off.mean():+.3f} on average, "
        f"{np.abs(off).mean():.3f} off in a single study ({len(pairs)} studies)."
    )


def long_table(found: list[tuple[str, str, dict[str, list[float]]]]) -> str:
    """Every statement in every condition."""
    lines = [
        "# How often statements held, by condition",
        "",
        "| statement | condition | mean | studies |",
        "|---|---|---:|---:|",
    ]
    for name, _, values in found:
        lines += [f"| {name} | {each} | {np.mean(v):.3f} | {len(v)} |" for each, v in sorted(values.items())]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the page and the long table."""
    rows = [json.loads(line) for line in ROWS.read_text().splitlines()]
    found = measured(rows)
    text = f"{table(found)}\n\n{reliability(rows)}"
    page = re.sub(
        r"(<!-- statements -->\n).*?(<!-- end -->)",
        lambda marks: f"{marks[1]}{text}\n{marks[2]}",
        PAGE.read_text(),
        flags=re.DOTALL,
    )
    (RESULTS / "honesty.md" if SMALL else PAGE).write_text(page)
    if not SMALL:
        ROWS.with_suffix(".md").write_text(long_table(found))


if __name__ == "__main__":
    main()
