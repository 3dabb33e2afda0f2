"""Put the measured rates into docs/honesty.md: ``python -m benchmarks.honesty.tables`` fills what stands between its marks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from benchmarks._measure import KEPT, RESULTS, ROOT, SMALL
from benchmarks.honesty import worlds_fourth, worlds_third
from nearfar.evaluate.participants import wilson

PAGE = ROOT / "docs" / "honesty.md"
Row = dict[str, Any]

FORECAST = {
    "early": "too early",
    "covered": "90 % interval holds the gain",
    "now_covered": "accuracy with all answers",
    "doubled_covered": "accuracy with twice as many",
    "forecast": "forecast",
    "true_gain": "true gain",
}
# table: (files, keys that name a cell, {key of a number: title})
TABLES: dict[str, tuple[tuple[str, ...], tuple[str, ...], dict[str, str]]] = {
    "accuracy": (
        ("accuracy", "accuracy_held_out", "accuracy_third", "accuracy_fourth"),
        ("design", "noise", "geometry", "n", "people", "m", "who"),
        {"covered": "95 % interval holds the truth", "one_way_covered": "clustered one way"},
    ),
    "equals": (
        ("equals", "equals_held_out"),
        ("design", "noise", "geometry", "people", "m", "models"),
        {"some_called_worse": "an equal model called worse", "one_error_rule": "one-standard-error rule"},
    ),
    "guessing": (
        ("guessing", "guessing_held_out"),
        ("design", "noise", "geometry", "people", "m"),
        {"called_better": "called better than guessing", "two_errors_rule": "two standard errors"},
    ),
    "ceiling": (
        ("ceiling", "ceiling_held_out"),
        ("repeats", "noise", "geometry", "n", "people", "who"),
        {"known": "known", "covered": "holds the truth, where known", "bare_bracket_covers": "bare bracket"},
    ),
    "curve": (
        ("curve", "curve_held_out", "curve_third", "curve_fourth"),
        ("model", "noise", "geometry", "design", "n", "m", "people"),
        FORECAST,
    ),
    "curve_regimes": (("curve_regimes",), ("runs of",), FORECAST),
    "curve_auto": (
        ("curve_auto", "curve_unknown"),
        ("model", "noise", "geometry", "design", "n", "m", "people", "who"),
        FORECAST,
    ),
    "clusters": (
        ("clusters", "clusters_designs", "clusters_held_out"),
        ("shape", "k", "d", "design", "noise", "each"),
        {
            "alone_right": "one number, right",
            "alone_wrong": "one number, wrong",
            "several": "a range",
            "none": "none found",
            "right": "likeliest is right",
            "holds": "what is stated holds, where groups are",
        },
    ),
    "circles": (
        ("circles", "circles_held_out"),
        ("model", "noise", "geometry", "n", "m", "people", "who", "resamples"),
        {
            "inside": "true locations inside (stated .9)",
            "inside_few": "of 20 to 79 statements",
            "inside_spread": "inside the bare spread",
            "marked": "marked",
        },
    ),
    "kept": (
        ("kept", "kept_held_out"),
        ("model", "noise", "geometry", "n", "m", "people"),
        {"kept": "kept", "by_chance": "answers at random", "above_chance": "more than .15 above"},
    ),
    "people": (
        ("people", "people_held_out"),
        ("noise", "geometry", "careless", "people", "each", "again"),
        {
            "false_discoveries": "false discoveries",
            "careless_named": "guessers named",
            "minority_called_inconsistent": "minority called inconsistent",
            "minority_called_different": "minority called different",
        },
    ),
    "people_intervals": (
        ("people_intervals", "people_intervals_held_out"),
        ("noise", "geometry", "people", "each", "n"),
        {"covered": "95 % interval holds the agreement with the prediction"},
    ),
    "tastes": (
        ("tastes", "tastes_held_out"),
        ("groups", "design", "noise", "geometry", "people", "m"),
        {"right": "right", "too_many": "too many"},
    ),
    "person_agreement": (
        ("person_agreement", "person_agreement_held_out"),
        ("design", "noise", "geometry", "n", "people", "m"),
        {"covered": "95 % interval holds the truth", "known": "pairs told", "width": "width of the interval"},
    ),
    "groups_tested": (
        ("groups_tested", "groups_tested_held_out", "groups_tested_fourth"),
        ("difference", "design", "noise", "geometry", "people", "m"),
        {"differ": "called different"},
    ),
    "groups_plainly": (
        ("groups_plainly", "groups_plainly_held_out", "groups_plainly_fourth"),
        ("difference", "design", "noise", "geometry", "people", "m"),
        {"differ": "called different", "plainly": "without the remark about noise"},
    ),
    "groups": (
        ("groups",),
        ("difference", "design", "people", "m"),
        {
            "agreement_covered": "95 % interval holds the agreement",
            "gap_covered": "holds the gap",
            "lead_excludes_0": "lead of the own map said falsely",
            "moves_covered": "interval holds the move",
        },
    ),
    "advice": (
        ("advice",),
        ("kind", "draw", "n", "dimension", "agreement"),
        {"covered": "90 % interval holds what is reached", "half_width": "half its width"},
    ),
    "advice_pilot": (
        ("advice_pilot", "advice_pilot_held_out", "advice_pilot_fourth"),
        ("noise", "geometry", "n", "d", "pilot", "people"),
        {
            "covered": "90 % interval holds what is reached",
            "covered_first": "at the pilot's size",
            "covered_last": "at eight times that",
            "half_width": "half its width",
        },
    ),
    "dimension": (
        ("dimension", "dimension_held_out"),
        ("model", "noise", "geometry", "d", "n", "m"),
        {"right": "right", "too_many": "too many", "too_few": "too few", "called_noise": "called noise"},
    ),
    "screens": (
        ("screens", "screens_held_out", "screens_third", "screens_fourth"),
        ("design", "noise", "geometry", "n", "m", "who"),
        {
            "found": "called screens",
            "found_shuffled": "rows shuffled",
            "sets": "called sets",
            "chosen": "called chosen",
        },
    ),
    "controls": (
        ("controls", "controls_held_out"),
        ("model", "noise", "geometry", "n", "m", "times", "controls"),
        {
            "flagged_all": "flagged, every answer counts",
            "flagged_thinned": "weighed like any other",
            "flagged_never_asked": "never asked",
        },
    ),
}


def rows_of(name: str) -> list[Row]:
    """The rows of one file; none where it was not run."""
    path = KEPT / "honesty" / f"{name}.json"
    return json.loads(path.read_text())["rows"] if path.exists() else []


def number(row: Row, key: str) -> str:
    """A rate with its interval, and of how many where that is fewer than all."""
    value = row.get(key)
    if value is None:
        return ""
    text = f"{value:.3f}" if key in ("forecast", "true_gain") else f"{value:.2f}"
    known = row.get(f"{key}_known")
    interval = row.get(f"{key}_interval")
    if interval is None:  # rows of earlier runs: all of them are rates
        of = known or row["repetitions"]
        interval = wilson(value, of)
    if interval is not None and key not in ("forecast", "true_gain"):
        text += f" ({max(0.0, interval[0]):.2f} to {min(1.0, interval[1]):.2f})"
    return text if known is None else f"{text} of {known}"


def family(name: str, row: Row) -> str:
    """Of which worlds a row of a file is: that of its geometry, where it has one."""
    if name == "curve_regimes":
        return "first three"
    for title, worlds in (("third", worlds_third), ("fourth", worlds_fourth)):
        if row.get("geometry", row.get("shape")) in worlds.GEOMETRIES:
            return title
    return "second" if name.endswith("_held_out") or row.get("geometry") else "first"


def table(files: Iterable[str], keys: tuple[str, ...], numbers: dict[str, str]) -> list[str]:
    """The lines of one table, cells of held-out worlds marked by their name."""
    found = [(name, row) for name in files for row in rows_of(name)]
    shown = [key for key in keys if any(row.get(key) not in (None, "") for _, row in found)]
    lines = [
        "| worlds | " + " | ".join([*shown, "runs", *numbers.values()]) + " |",
        "|---" * (len(shown) + len(numbers) + 2) + "|",
    ]
    for name, row in found:
        worlds = family(name, row)
        cells = [str(row.get(key, "")) for key in shown]
        cells += [str(row["repetitions"]), *(number(row, key) for key in numbers)]
        lines.append("| " + " | ".join([worlds, *cells]) + " |")
    return lines


def filled(text: str) -> str:
    """The page with every table between its marks."""
    for name, of in TABLES.items():
        begin, end = f"<!-- table: {name} -->", f"<!-- end: {name} -->"
        if begin not in text:
            continue
        new = "\n".join([begin, *table(*of), end])
        text = re.sub(
            re.escape(begin) + ".*?" + re.escape(end), lambda _, new=new: new, text, flags=re.DOTALL
        )  # type: ignore[misc]
    return text


def main() -> None:
    page = RESULTS / PAGE.name if SMALL else PAGE
    page.write_text(filled(PAGE.read_text()))


if __name__ == "__main__":
    main()
