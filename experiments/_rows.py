"""Averages over rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from math import isnan
from statistics import mean, median
from typing import Any

from experiments._experiment import Row

__all__ = [
    "average",
    "between",
    "matching",
    "median_of",
    "on_one_machine",
    "paired",
    "runs_of",
    "spread",
    "total_seconds",
    "typical_seconds",
    "values_of",
    "with_error",
]


def matching(rows: Iterable[Row], **wanted: Any) -> list[Row]:
    """Rows that have these settings; a setting wanted as None must be missing.

    >>> matching([{"d": 2, "purity": 0.5}, {"purity": 0.6}], d=None)
    [{'purity': 0.6}]
    """
    return [row for row in rows if all(row.get(name) == value for name, value in wanted.items())]


def average(rows: Iterable[Row], name: str = "purity", **wanted: Any) -> float:
    """Mean of a result over the rows with these settings; NaN without rows."""
    values = [row[name] for row in matching(rows, **wanted) if name in row]
    return mean(values) if values else float("nan")


def spread(rows: Iterable[Row], name: str = "purity", **wanted: Any) -> float:
    """Standard error of the mean; NaN for fewer than two rows."""
    values = [row[name] for row in matching(rows, **wanted) if name in row]
    if len(values) < 2:
        return float("nan")
    middle = mean(values)
    return float((sum((value - middle) ** 2 for value in values) / (len(values) - 1) / len(values)) ** 0.5)


def total_seconds(row: Row) -> float:
    """From answers to clusters: kernels are clustered by their features, so their matrix does not count."""
    return float(row.get("feature_seconds", row.get("seconds", 0.0)) + row.get("cluster_seconds", 0.0))


def with_error(rows: Iterable[Row], name: str = "purity", digits: int = 2, **wanted: Any) -> str:
    """Mean and standard error as a table has them; without an error where there is one row.

    >>> with_error([{"purity": 0.5}, {"purity": 0.7}])
    '0.60 ± 0.10'
    """
    matched = matching(rows, **wanted)
    value, error = average(matched, name), spread(matched, name)
    if isnan(value):
        return "-"
    return f"{value:.{digits}f}" + ("" if isnan(error) else f" ± {error:.{digits}f}")


def runs_of(rows: Iterable[Row], along: str, **wanted: Any) -> str:
    """How many runs there are for each value of a setting: a number, or the fewest and the most.

    >>> runs_of([{"n": 1, "run": 0}, {"n": 1, "run": 1}, {"n": 2, "run": 0}], "n")
    '1 to 2'
    """
    matched = matching(rows, **wanted)
    counts = [
        len(values_of(matching(matched, **{along: value}), "run")) for value in values_of(matched, along)
    ]
    if not counts:
        return "0"
    return str(counts[0]) if len(set(counts)) == 1 else f"{min(counts)} to {max(counts)}"


def typical_seconds(rows: Iterable[Row], **wanted: Any) -> float:
    """Median of the seconds from answers to clusters: one slow run on a busy machine does not move it."""
    seconds = [total_seconds(row) for row in matching(rows, **wanted)]
    return median(seconds) if seconds else float("nan")


def between(*seconds: float) -> str:
    """One time, or the range of several; a dash where there is none.

    >>> between(1.32, 2.5), between(0.0141), between(float("nan"))
    ('1.3 to 2.5', '0.014', '-')
    """
    shown = list(dict.fromkeys(f"{value:.2g}" for value in sorted(seconds) if not isnan(value)))
    return " to ".join(shown[:1] + shown[1:][-1:]) or "-"


def median_of(rows: Iterable[Row], name: str, **wanted: Any) -> float:
    """Median of a result over the rows with these settings; NaN without rows."""
    values = [row[name] for row in matching(rows, **wanted) if name in row]
    return median(values) if values else float("nan")


def paired(rows: Iterable[Row], along: str) -> list[Row]:
    """The rows of the draws that all the published programs were run on, for each value of a setting.

    The paper runs every method on the same draws of objects, landmarks and flips. Ours has more runs of the kernels than of
    the published programs; a mean over more draws on one side would compare the draws as well as the methods.

    >>> rows = [{"n": 9, "run": 0}, {"n": 9, "run": 0, "start": "published"}, {"n": 9, "run": 1}]
    >>> paired(rows, "n") == rows[:2]
    True
    """
    rows = list(rows)
    fits = Counter((row[along], row["run"]) for row in matching(rows, start="published"))
    whole = {draw for draw, count in fits.items() if count == max(fits.values())}
    return [row for row in rows if (row.get(along), row.get("run")) in whole]


def on_one_machine(rows: Iterable[Row], *needed: Mapping[str, Any]) -> list[Row]:
    """The rows of the machine that has all the kinds of rows that are needed, of the last one if there are several.

    Seconds of two machines do not compare. Without such a machine there are no rows.

    >>> on_one_machine([{"d": 2, "seconds": 1.0}, {"d": 5, "seconds": 2.0, "machine": 1}], {"d": 2})
    [{'d': 2, 'seconds': 1.0}]
    """
    by_machine: dict[int, list[Row]] = {}
    for row in rows:
        by_machine.setdefault(row.get("machine", 0), []).append(row)
    whole = [own for _, own in sorted(by_machine.items()) if all(matching(own, **way) for way in needed)]
    return whole[-1] if whole else []


def values_of(rows: Iterable[Row], name: str) -> list[Any]:
    """The different values of a setting, in order.

    >>> values_of([{"n": 2}, {"n": 1}, {"n": 2}, {}], "n")
    [1, 2]
    """
    return sorted({row[name] for row in rows if name in row})
