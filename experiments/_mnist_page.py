"""What the MNIST rows say: a figure, a table, two claims."""

from __future__ import annotations

from typing import Any

from experiments import _methods, _plots
from experiments._data import Data
from experiments._experiment import Claim, Figure, Row, Section, Verdict, table
from experiments._rows import average, matching, spread, typical_seconds, values_of

__all__ = ["TITLE", "section"]

TITLE = "MNIST: purity and time against the number of objects"
CLOSE = 0.02  # of purity: competes
FAR = 10  # times as fast: far faster
PAPER_SECONDS = {"k1": 100, "k2": 180, "fastest embedding": 2000}  # n = 10,000

Way = dict[str, Any]


def ways(start: str = "random") -> dict[str, Way]:
    """What the paper compares: kernels on landmark triplets, embeddings on landmark and on random ones."""
    found: dict[str, Way] = {name: {"method": name, "design": "landmark"} for name in ("k1", "k2")}
    for method in _methods.EMBEDDINGS:
        found[method] = {"method": method, "design": "landmark", "start": start}
        found[f"{method} rand"] = {"method": method, "design": "rand", "start": start}
    return found


def ours() -> dict[str, Way]:
    """What it did not have."""
    started = {name: way for name, way in ways("kernel").items() if not _methods.is_kernel(name)}
    scores: dict[str, Way] = {
        "score": {"method": "score", "design": "landmark"},
        "score rand": {"method": "score", "design": "rand"},
    }
    return scores | {f"{name}, our start": way for name, way in started.items()}


def section(rows: list[Row], data: Data) -> Section:
    sizes, runs = values_of(rows, "n"), len(values_of(rows, "run"))
    lines: dict[str, Way] = ways() | ours() | {"k-means on pixels": {"method": "pixels"}}
    text = (
        f"n digits of all ten classes, 30 random landmarks, 150 n triplets, flips 0.15, embeddings in 5 dimensions, ten "
        f"clusters, mean of {runs} runs. Columns: mean purity, then median CPU seconds from answers to clusters."
    )
    head = ["method", *(f"purity, {n:,}" for n in sizes), *(f"s, {n:,}" for n in sizes)]
    cells = [
        [
            name,
            *(f"{average(rows, **way, n=n):.3f}" for n in sizes),
            *(f"{typical_seconds(rows, **way, n=n):.2g}" for n in sizes),
        ]
        for name, way in lines.items()
    ]
    figure = Figure(
        lambda: draw(rows),
        f"MNIST: mean purity of {runs} runs, and median CPU seconds from answers to clusters.",
    )
    return Section(
        f"{text}\n\n{table(head, cells)}", [_competes(rows, sizes), _faster(rows, sizes)], {"mnist": figure}
    )


def _competes(rows: list[Row], sizes: list[int]) -> Claim:
    largest = sizes[-1]
    lines = ways() | ours()
    k1, gnmds, same, pixels = (
        average(rows, **way, n=largest)
        for way in (lines["k1"], lines["GNMDS rand"], lines["GNMDS"], {"method": "pixels"})
    )
    gap = gnmds - k1
    shared = max(average(rows, **lines[name], n=largest) for name in _methods.EMBEDDINGS)
    verdict: Verdict = "holds" if gap <= CLOSE else "holds in part" if gap <= 3 * CLOSE else "does not hold"
    why = f"Rule: holds within {CLOSE} of GNMDS's purity, in part within {3 * CLOSE:.2f}."
    if gap > CLOSE:
        why += (
            f" What k1 lacks is in the questions rather than in the kernel: on the very same landmark triplets GNMDS has "
            f"{same:.3f} and the best of the five embeddings {shared:.3f}."
            if shared < gnmds - CLOSE
            else f" On the same landmark triplets the best embedding has {shared:.3f}: the kernel itself falls behind."
        )
    return Claim(
        "MNIST: for large n, k1 (on landmark triplets) competes with GNMDS on random triplets.",
        f"n = {largest:,}: purity of k1 {k1:.3f}, of GNMDS on random triplets {gnmds:.3f}; k-means on the pixels {pixels:.3f}.",
        verdict,
        why,
    )


def _faster(rows: list[Row], sizes: list[int]) -> Claim:
    largest = sizes[-1]
    seconds = {name: typical_seconds(rows, **way, n=largest) for name, way in (ways() | ours()).items()}
    others = [name for name in ways() if not _methods.is_kernel(name)]
    who = min(others, key=lambda name: seconds[name])
    best = min((name for name in seconds if "our start" in name), key=lambda name: seconds[name])
    ratios = [seconds[who] / seconds[kernel] for kernel in ("k1", "k2")]
    verdict: Verdict = (
        "holds" if min(ratios) >= FAR else "holds in part" if min(ratios) > 1 else "does not hold"
    )
    return Claim(
        "MNIST, n = 10,000: k1 took about 100 seconds, k2 180, the fastest embedding 2,000: factors of 20 and 11.",
        f"n = {largest:,}: k1 {seconds['k1']:.1f} s, k2 {seconds['k2']:.1f} s, the fastest embedding ({who}) "
        f"{seconds[who]:.1f} s: factors of {ratios[0]:.1f} and {ratios[1]:.1f}. From our start {best.split(',')[0]} takes "
        f"{seconds[best]:.1f} s.",
        verdict,
        f"Rule: holds at {FAR} times as fast. Ours needs no kernel matrix (k-means runs on Phi) and its embeddings are "
        f"compiled loops: k1 takes {PAPER_SECONDS['k1'] / seconds['k1']:.0f} times less than the paper's, the fastest "
        f"embedding {PAPER_SECONDS['fastest embedding'] / seconds[who]:.0f} times less.",
    )


def draw(rows: list[Row]) -> Any:
    figure, axes = _plots.panels(2, 2, width=7.6, height=5.9, sharex=True, sharey="row")
    for column, design in enumerate(("landmark", "rand")):
        for method in (*_methods.EMBEDDINGS, *_methods.KERNELS):
            _lines(axes[:, column], rows, method, design)
        axes[0, column].axhline(
            average(rows, method="pixels"), color=_plots.COLOURS["pixels"], linestyle=":", linewidth=1.2
        )
        axes[0, column].set_title(f"{'landmark' if design == 'landmark' else 'random'} triplets")
        axes[1, column].set(xlabel="objects n", xscale="log", yscale="log")
        axes[1, column].set_xticks(values_of(rows, "n"), [f"{n:,}" for n in values_of(rows, "n")])
        axes[1, column].minorticks_off()
    axes[0, 0].set_ylabel("purity")
    axes[1, 0].set_ylabel("CPU seconds")
    _plots.method_legend(figure, axes[0, 0], ["pixels"])
    return figure


def _lines(axes: Any, rows: list[Row], method: str, design: str) -> None:
    kernel = _methods.is_kernel(method)
    for start in (None,) if kernel else ("random", "kernel"):
        found = matching(rows, method=method, design=design, start=start)
        sizes = values_of(found, "n")
        style: Any = {"color": _plots.COLOURS[method], "linewidth": 2.4 if kernel else 1.2}
        style["linestyle"] = "--" if start == "kernel" else "-"
        y = [average(found, n=n) for n in sizes]
        axes[0].plot(sizes, y, **style)
        axes[1].plot(sizes, [typical_seconds(found, n=n) for n in sizes], **style)
        if kernel:
            error = [spread(found, n=n) for n in sizes]
            low, high = ([a + sign * b for a, b in zip(y, error, strict=True)] for sign in (-1, 1))
            axes[0].fill_between(sizes, low, high, color=_plots.COLOURS[method], alpha=0.15, linewidth=0)
