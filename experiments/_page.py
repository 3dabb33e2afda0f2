"""Rows -> a summary (docs/paper.md), two long pages beside the rows, and their figures."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments import _plots, _words
from experiments._data import Data
from experiments._experiment import Absent, Claim, Experiment, Figure, Row, Section, table
from experiments._machine import machines
from experiments._runner import Places
from experiments._store import Store
from nearfar._tools.atomic import atomic_path

__all__ = ["write_pages"]

MARKS = {
    "holds": "holds",
    "holds in part": "holds in part",
    "does not hold": "**does not hold**",
    "no data": "no data",
    "not judged": "not judged",
}


@dataclass(frozen=True)
class _Part:
    """An experiment, what it says on a page, and how many of its cells are computed."""

    experiment: Experiment
    section: Section
    stored: int
    wanted: int


def write_pages(
    experiments: Sequence[Experiment], places: Places, data: Data, *, quick: bool = False
) -> list[Path]:
    """Draw every experiment that has rows, judge its claims, and write each page whole or not at all."""
    paper = _parts([e for e in experiments if e.section], places, data, quick, lambda e: e.section)
    more = _parts([e for e in experiments if e.ours], places, data, quick, lambda e: e.ours)
    machine = _machine(experiments, places.rows, quick)
    opening = [_words.HEAD, machine, _words.READING]
    opening += ["## Claims at a glance\n", _glance(paper), "## Where the paper's 14 figures are\n"]
    opening += [_figures()]
    details = _write(places.page, opening, paper, places, quick)
    ours = _write(places.ours, [_words.OURS, machine], more, places, quick)
    return [_write_summary(paper, places, quick), details, ours]


Says = Callable[[list[Row], Data], Section]


def _parts(
    experiments: Sequence[Experiment],
    places: Places,
    data: Data,
    quick: bool,
    says: Callable[[Experiment], Says | None],
) -> list[_Part]:
    parts = []
    for experiment in experiments:
        store, say = Store(places.rows, experiment.name), says(experiment)
        assert say is not None
        section = say(store.rows(), data) if len(store) else _not_run(experiment, data)
        cells = experiment.cells(quick)
        parts.append(_Part(experiment, section, sum(cell in store for cell in cells), len(cells)))
    return parts


def _write(page: Path, opening: list[str], parts: Sequence[_Part], places: Places, quick: bool) -> Path:
    text, number = list(opening), 0
    for part in parts:
        text += [f"## {part.experiment.title}\n", *_body(part, places, page, number, quick)]
        number += len(part.section.claims)
    return _keep(page, text)


def _write_summary(parts: Sequence[_Part], places: Places, quick: bool) -> Path:
    """The claims with their verdicts, what deviates, and every figure with its name; the rest stands in the long pages."""
    claims = [(part, claim) for part in parts for claim in part.section.claims]
    rows = [
        [number, claim.short, part.experiment.title, MARKS[claim.verdict]]
        for number, (part, claim) in enumerate(claims, 1)
    ]
    held = sum(claim.verdict == "holds" for _, claim in claims)
    partly = sum(claim.verdict == "holds in part" for _, claim in claims)
    counted = f"Of {len(claims)} claims {held} hold and {partly} hold in part."
    if quick:
        counted += " **This is a quick run: few runs, small sizes; do not quote it.**"
    text = [
        _words.SUMMARY,
        counted,
        table(["", "claim", "experiment", "verdict"], rows).replace("---:", "---"),
    ]
    text += [_words.DEVIATIONS, "## Figures\n"]
    for part in parts:
        drawn = [name for name in part.section.figures if (places.figures / f"{name}.png").exists()]
        text += [
            f"![{name}]({_relative(places.figures / f'{name}.png', places.summary.parent)})\n*{part.experiment.title}.*"
            for name in drawn
        ]
    return _keep(places.summary, text)


def _keep(page: Path, text: Sequence[str]) -> Path:
    page.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(page) as path:
        path.write_text("\n".join(part.rstrip("\n") + "\n" for part in text if part), encoding="utf-8")
    return page


def _not_run(experiment: Experiment, data: Data) -> Section:
    if experiment.absent is not None:
        return Section(experiment.absent(data))
    extra = " --peers" if experiment.needs_peers else ""
    return Section(f"Not run yet: `python -m experiments {experiment.name}{extra}`.")


def _machine(experiments: Sequence[Experiment], folder: Path, quick: bool) -> str:
    """What was measured on what, and what all of it took."""
    known = machines(folder)
    if not known:
        return ""
    rows = {path.stem: Store(folder, path.stem).rows() for path in sorted(folder.glob("*.jsonl"))}
    counts = [
        {name: sum(row.get("machine", 0) == place for row in own) for name, own in rows.items()}
        for place in range(len(known))
    ]
    main = max(range(len(known)), key=lambda place: sum(counts[place].values()))
    used = [place for place in range(len(known)) if place != main and any(counts[place].values())]
    text = f"Measured on {_hardware(known[main])}"
    for place in used:
        text += f"; {_shares(counts[place], rows)} on {_hardware(known[place])}"
    text += "."
    if used:
        text += " Seconds that are compared are always those of one machine."
    text += _shared([known[place] for place in (main, *used)])
    text += "".join(f" {known[place]['note']}" for place in (main, *used) if known[place].get("note"))
    if quick:
        return text + " **This is a quick run: few runs, small sizes; do not quote it.**\n"
    return text + "\n\n" + _whole_time(experiments, folder)


def _hardware(facts: Mapping[str, Any]) -> str:
    return f"{facts['cores']} cores of {facts['processor']}, Python {facts['python']}, numpy {facts['numpy']}, {facts['date']}"


def _shares(counts: Mapping[str, int], rows: Mapping[str, Sequence[Row]]) -> str:
    """Which rows: whole experiments by name, of the others how many."""
    whole = [name for name, count in counts.items() if 0 < count == len(rows[name])]
    some = [
        f"{count:,} of {len(rows[name]):,} of {name}"
        for name, count in counts.items()
        if 0 < count < len(rows[name])
    ]
    return ", ".join([f"all rows of {', '.join(whole)}"] * bool(whole) + some)


def _shared(known: Sequence[Mapping[str, Any]]) -> str:
    loads = [str(facts["load"]) for facts in known if (facts["load"] or 0) > 1.5 * facts["cores"]]
    if not loads:
        return ""
    return (
        f" Others used the machine at the same time (load up to {' and '.join(loads)}): CPU seconds do not count waiting, but caches "
        "are shared, so single times may be up to twice those of an idle machine."
    )


def _whole_time(experiments: Sequence[Experiment], folder: Path) -> str:
    """What ``python -m experiments`` takes: the CPU seconds of the cells that it computes, one thread each."""
    chosen = [experiment for experiment in experiments if not experiment.needs_peers]
    stores = [Store(folder, experiment.name) for experiment in chosen]
    wanted = sum(len(experiment.cells(False)) for experiment in chosen)
    spent = [store.cpu_seconds() for store in stores]
    total, partly, cells = sum(s for s, _ in spent), sum(c for _, c in spent), sum(map(len, stores))
    if total < 60:
        return ""
    text = (
        f"On an idle machine the whole run, without cblearn, takes about {total / 60:.0f} minutes in one process (`--jobs 1`): a cell "
        f"runs in one thread, and this is the sum of the CPU times of the {cells:,} cells that are computed, of {wanted:,}."
    )
    if partly:
        text += (
            f" Of {partly:,} of them only the fit and the clustering were timed; what drawing the questions and scoring took is "
            "estimated from the other cells of the same experiment."
        )
    return text + "\n"


def _glance(parts: Sequence[_Part]) -> str:
    """Where a claim is judged, and the verdict; the claim itself stands there, once."""
    rows, number = [], 0
    for part in parts:
        marks = []
        for claim in part.section.claims:
            number += 1
            marks.append(f"({number}) {claim.short}: {MARKS[claim.verdict]}")
        if marks:
            rows.append([f"[{part.experiment.title}](#{_anchor(part.experiment.title)})", "; ".join(marks)])
    return table(["section", "claims"], rows).replace("---:", "---")


def _figures() -> str:
    """The paper's figures and ours; those that ours shows in one place in one row."""
    places: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for paper, shows, here, alike in _words.FIGURES:
        places.setdefault((here, alike), []).append((paper, shows))
    rows = []
    for (here, alike), figures in places.items():
        numbers = list(dict.fromkeys(paper for paper, _ in figures))
        count = f" ({len(figures)} figures)" if len(numbers) == 1 < len(figures) else ""
        rows.append([", ".join(numbers) + count, "; ".join(shows for _, shows in figures), here, alike])
    return table(["paper", "shows", "here", "how alike"], rows).replace("---:", "---")


def _anchor(title: str) -> str:
    """The id that a heading gets on the usual hosts.

    >>> _anchor("Figure 1: what the kernels compare")
    'figure-1-what-the-kernels-compare'
    """
    kept = "".join(letter for letter in title.lower() if letter.isalnum() or letter in " -_")
    return kept.replace(" ", "-")


def _body(part: _Part, places: Places, page: Path, number: int, quick: bool) -> list[str]:
    text = [part.section.text]
    if 0 < part.stored < part.wanted:
        text.append(
            f"*{part.stored:,} of {part.wanted:,} cells are computed; the others lack their data or were not run yet.*"
        )
    for name, figure in part.section.figures.items():
        path = places.figures / f"{name}.png"
        if _draw(figure, path, Store(places.rows, part.experiment.name).path, quick):
            text.append(f"![{name}]({_relative(path, page.parent)})\n*{figure.caption}*")
    return text + [_claim(claim, number + i) for i, claim in enumerate(part.section.claims, 1)]


def _draw(figure: Figure, path: Path, rows: Path, draft: bool) -> bool:
    """Draw what is older than its rows or than the code; True where there is a picture afterwards."""
    code = max(file.stat().st_mtime for file in Path(__file__).parent.glob("*.py"))
    if not path.exists() or path.stat().st_mtime < max(code, rows.stat().st_mtime):
        try:
            _plots.save(figure.draw(), path, draft=draft)
        except Absent as reason:
            print(f"{path.name} is not drawn again: {reason}", file=sys.stderr)
    return path.exists()


def _claim(claim: Claim, number: int) -> str:
    why = f" {claim.why}" if claim.why else ""
    verdict = claim.verdict[0].upper() + claim.verdict[1:]
    return f"> **Claim {number}.** {claim.paper} **{verdict}.** {claim.ours}{why}"


def _relative(path: Path, start: Path) -> str:
    return Path(os.path.relpath(path, start)).as_posix()
