"""What the peer's rows say: its two starts beside our own fits, and where a cap was reached."""

from __future__ import annotations

from statistics import median

from experiments._data import Data
from experiments._experiment import Row, Section, number, table
from experiments._rows import average, matching, total_seconds, typical_seconds, values_of

__all__ = ["TITLE", "section"]

TITLE = "The peer: cblearn's embeddings on the same USPS triplets"
STARTS = ("default", "small", "ours")


def section(rows: list[Row], data: Data) -> Section:
    runs, version = len(values_of(rows, "run")), values_of(rows, "cblearn")[-1]
    text = (
        f"cblearn {version} in its own environment and nearfar's embeddings (kernel start), both on exactly the triplets of "
        f"{runs} runs of the USPS experiment: 2-d, no flips. cblearn from its own unit-normal start and from the same points "
        "shrunk (x 0.01 for SOE, x 0.1 else), since a fair comparison tries both. A fit is stopped after 600 CPU seconds. Mean "
        "purity, and median CPU seconds of one thread from answers to clusters:"
    )
    head = ["method", "triplets"]
    head += [f"{what}, {who}" for who in ("cblearn", "cblearn small", "nearfar") for what in ("purity", "s")]
    lines = []
    for method in dict.fromkeys(row["method"] for row in rows):
        for design in ("landmark", "rand"):
            for budget in values_of(rows, "budget"):
                found = matching(rows, method=method, design=design, budget=budget)
                if found:
                    kind = "landmark" if design == "landmark" else "random"
                    cells = [cell for start in STARTS for cell in _cells(matching(found, start=start))]
                    lines.append([method, f"{budget:,} {kind}", *cells])
    return Section("\n\n".join((text, table(head, lines), _summary(rows))))


def _cells(rows: list[Row]) -> list[str]:
    mark = "*" if any(row.get("capped") for row in rows) else ""
    return [number(average(rows), 2), f"{typical_seconds(rows):.3g}{mark}" if rows else "-"]


def _summary(rows: list[Row]) -> str:
    """Fit by fit: how much faster ours is, and who has the higher purity."""
    faster, ahead = [], []
    theirs = [row for row in rows if row["start"] != "ours"]
    for row in matching(rows, start="ours"):
        same = {name: row[name] for name in ("run", "budget", "design", "method")}
        both = matching(theirs, **same)
        if both:
            faster += [total_seconds(other) / total_seconds(row) for other in both]
            ahead.append(row["purity"] - max(other["purity"] for other in both))
    capped = sum(bool(row["capped"]) for row in theirs)
    end = f"{capped} of {len(theirs)} fits of cblearn reached the cap" + (
        " (marked with *)." if capped else "."
    )
    if not faster:
        return end
    return (
        f"Ours takes {min(faster):.0f} to {max(faster):.0f} times less, {median(faster):.0f} in the middle. Its purity minus that of "
        f"the better of cblearn's two starts is {sum(ahead) / len(ahead):+.3f} on average ({min(ahead):+.2f} to {max(ahead):+.2f}, "
        f"{len(ahead)} pairs). {end}"
    )
