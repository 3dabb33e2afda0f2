"""What the peer's rows say: its two starts beside our own fits, and where a cap was reached."""

from __future__ import annotations

from statistics import median

from experiments import _lines
from experiments._data import Data
from experiments._experiment import Row, Section, number, table
from experiments._rows import average, matching, median_of, values_of

__all__ = ["TITLE", "section"]

TITLE = "The peer: cblearn's embeddings on the same USPS triplets"
STARTS = ("default", "small", "ours")


def section(rows: list[Row], data: Data) -> Section:
    runs, version = len(values_of(rows, "run")), values_of(rows, "cblearn")[-1]
    text = (
        f"cblearn {version} in its own environment, nearfar's embeddings (kernel start) and its kernels, on exactly the triplets of "
        f"{runs} runs of the USPS experiment: 2-d, no flips. cblearn from its own unit-normal start and from the same points shrunk "
        "(x 0.01 for SOE, x 0.1 else), since a fair comparison tries both. A fit is stopped after 600 CPU seconds. Mean purity, and "
        "median CPU seconds of one thread for the embedding or the kernel matrix:"
    )
    head = ["method", "triplets"]
    head += [f"{what}, {who}" for who in ("cblearn", "cblearn small", "nearfar") for what in ("purity", "s")]
    lines = []
    for method in dict.fromkeys(row["method"] for row in rows):
        for design in ("landmark", "rand"):
            for budget in values_of(rows, "budget"):
                matched = matching(rows, method=method, design=design, budget=budget)
                if matched:
                    kind = "landmark" if design == "landmark" else "random"
                    cells = [cell for start in STARTS for cell in _cells(matching(matched, start=start))]
                    lines.append([_lines.title(method), f"{budget:,} {kind}", *cells])
    remarks = (
        [_summary(rows), _kernels(rows), _landmarks(rows)]
        if matching(rows, method="k2")
        else [_summary(rows)]
    )
    return Section("\n\n".join((text, table(head, lines), " ".join(remarks))))


def _cells(rows: list[Row]) -> list[str]:
    mark = "*" if any(row.get("capped") for row in rows) else ""
    return [number(average(rows), 2), f"{median_of(rows, 'seconds'):.3g}{mark}" if rows else "-"]


def _summary(rows: list[Row]) -> str:
    """Fit by fit: how much faster ours is, and who has the higher purity."""
    faster, ahead = [], []
    theirs = [row for row in rows if row["start"] != "ours"]
    for row in matching(rows, start="ours"):
        same = {name: row[name] for name in ("run", "budget", "design", "method")}
        both = matching(theirs, **same)
        if both:
            faster += [other["seconds"] / row["seconds"] for other in both]
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


def _kernels(rows: list[Row]) -> str:
    most = values_of(rows, "budget")[-1]
    kernels = {name: median_of(rows, "seconds", method=name, budget=most) for name in ("k1", "k2")}
    fits = {
        (r["method"], r["start"], r["design"]) for r in matching(rows, budget=most) if r["start"] != "ours"
    }
    theirs = {
        which: median_of(rows, "seconds", method=which[0], start=which[1], design=which[2], budget=most)
        for which in sorted(fits)
    }
    first = min(theirs, key=lambda which: theirs[which])
    ratio, middle = (value / max(kernels.values()) for value in (theirs[first], median(theirs.values())))
    return (
        f"With {most:,} triplets k1 takes {kernels['k1']:.3f} s, k2 {kernels['k2']:.3f} s, cblearn's fastest fit ({first[0]}) {theirs[first]:.1f} s: "
        f"the slower kernel is {ratio:.0f} times as fast as the fastest, {middle:.0f} times as fast as the middle one."
    )


def _landmarks(rows: list[Row]) -> str:
    purities = [
        f"{average(rows, method='GNMDS', start=start, budget=budget, design='landmark'):.2f} against "
        f"{average(rows, method='GNMDS', start=start, budget=budget, design='rand'):.2f} ({start} start, {budget:,})"
        for start in ("default", "small")
        for budget in values_of(rows, "budget")
    ]
    return f"cblearn's GNMDS on landmark against random triplets: {', '.join(purities)}; random labels have about 0.42."
