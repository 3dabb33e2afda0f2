"""What the peer's rows say: a table beside our own rows, and where a cap was reached."""

from __future__ import annotations

from experiments._data import Data
from experiments._experiment import Row, Section, table
from experiments._rows import average, matching, typical_seconds, values_of

__all__ = ["TITLE", "section"]

TITLE = "The peer: cblearn's embeddings on the same USPS triplets"


def section(rows: list[Row], data: Data) -> Section:
    budgets, runs = values_of(rows, "budget"), len(values_of(rows, "run"))
    version = values_of(rows, "cblearn")[-1]
    text = (
        f"cblearn {version} in its own environment, 2-d, no flips, {runs} runs at most, on exactly the triplets that ours got "
        "in those runs; from its own unit-normal start and from the same points shrunk (x 0.01 for SOE, x 0.1 else), since a "
        "fair comparison tries both. A fit is stopped after 600 CPU seconds. Mean purity, median CPU seconds from answers to "
        "clusters, both of one thread."
    )
    head = ["method, start", "triplets"]
    for budget in budgets:
        head += [f"purity, {budget:,}", f"s, {budget:,}"]
    lines = []
    for method in dict.fromkeys(row["method"] for row in rows):
        for start in ("default", "small"):
            for design in ("landmark", "rand"):
                found = matching(rows, method=method, start=start, design=design)
                if found:
                    lines.append(
                        [
                            f"{method}, {start}",
                            "landmark" if design == "landmark" else "random",
                            *_cells(found, budgets),
                        ]
                    )
    capped = sum(bool(row["capped"]) for row in rows)
    end = f"{capped} of {len(rows)} fits reached the cap of 600 seconds" + (
        " (marked with *)." if capped else "."
    )
    return Section(f"{text}\n\n{table(head, lines)}\n\n{end}")


def _cells(rows: list[Row], budgets: list[int]) -> list[str]:
    cells = []
    for budget in budgets:
        found = matching(rows, budget=budget)
        mark = "*" if any(row["capped"] for row in found) else ""
        cells += [f"{average(found):.2f}", f"{typical_seconds(found):.3g}{mark}"] if found else ["-", "-"]
    return cells
