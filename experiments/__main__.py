"""``python -m experiments [NAME ...] [--quick] [--peers] [--data-dir DIR]``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments._catalogue import EXPERIMENTS
from experiments._data import Data
from experiments._page import write_pages
from experiments._runner import ROOT, Places, run
from experiments._store import Store

QUICK = ROOT / "experiments" / "quick"


def parser() -> argparse.ArgumentParser:
    names = "\n".join(f"  {name:10} {experiment.title}" for name, experiment in EXPERIMENTS.items())
    arguments = argparse.ArgumentParser(
        "python -m experiments",
        description="Redo the paper: compute the cells that are missing, then write docs/paper.md and the two long pages "
        "from all rows. A run that was stopped goes on where it was.",
        epilog=f"experiments:\n{names}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    arguments.add_argument("names", nargs="*", metavar="NAME", help="which ones; default: all, peers apart")
    arguments.add_argument(
        "--quick", action="store_true", help="all of it small, in under a minute, into experiments/quick"
    )
    arguments.add_argument(
        "--peers", action="store_true", help="also (or only, by name) cblearn's embeddings"
    )
    arguments.add_argument("--data-dir", type=Path, metavar="DIR", help="where data is looked for and kept")
    arguments.add_argument(
        "--jobs", type=int, default=min(2, os.cpu_count() or 1), help="processes (default 2)"
    )
    arguments.add_argument(
        "--output", type=Path, metavar="DIR", help="rows, pages and figures go there instead"
    )
    arguments.add_argument(
        "--page", action="store_true", help="compute nothing, write the pages from what is stored"
    )
    arguments.add_argument(
        "--fresh", action="store_true", help="forget stored rows of these experiments first"
    )
    return arguments


def main(given: Sequence[str] | None = None) -> int:
    options = parser().parse_args(given)
    unknown = [name for name in options.names if name not in EXPERIMENTS]
    if unknown:
        print(f"experiments: {unknown[0]!r} is none of {', '.join(EXPERIMENTS)}", file=sys.stderr)
        return 2
    default = Places.below(QUICK) if options.quick else Places.full()
    places = default if options.output is None else Places.below(options.output)
    data = Data(options.data_dir)
    chosen = [
        experiment
        for name, experiment in EXPERIMENTS.items()
        if (name in options.names or not options.names) and (options.peers or not experiment.needs_peers)
    ]
    failed = 0
    if not options.page:
        if options.fresh:
            for experiment in chosen:
                Store(places.rows, experiment.name).forget()
        outcome = run(chosen, places, data, quick=options.quick, jobs=options.jobs)
        failed = outcome.failed
        print(
            f"{outcome.computed} cells computed, {outcome.stored} were stored, {outcome.absent} lack data, {failed} failed",
            file=sys.stderr,
        )
    for page in write_pages(list(EXPERIMENTS.values()), places, data, quick=options.quick):
        print(page)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
