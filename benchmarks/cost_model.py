"""What features, a map and clusters cost on many machines: a model, its check, and a billion objects.

    python -m benchmarks.cost_model    prints the tables of docs/scale.md

The rates of one core are those that ``benchmarks.scale`` measured, and so is what the model is checked against.
Everything else is counting: answers, cells, entries of Phi, blocks, rounds.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from benchmarks._measure import RESULTS
from nearfar.methods._rows import SAMPLE
from nearfar.scale._engine import FAN_IN
from nearfar.scale.feature_map import BLOCK_BYTES
from nearfar.scale.reading import PIECE_ROWS

BOUNDED = 0.1  # of a look at every centre from every row: what a round of k-means costs once it has bounds
LONGEST = 100  # rounds on a sample


@dataclass(frozen=True)
class Rates:
    """Of one core; nanoseconds unless it says otherwise."""

    count_per_answer: float
    merge_per_cell: float
    make_per_entry: float
    step_per_product: float
    scatter_gflops: float
    pass_gb_per_second: float
    cell_bytes_per_answer: float
    disk_bytes_per_answer: float
    task_seconds: float


@dataclass(frozen=True)
class Work:
    """Answers about objects by landmarks, k1; Phi is dense."""

    objects: float
    answers: float
    columns: int
    entry_bytes: int
    clusters: int
    rounds: int
    blocks: int
    pieces: int
    workers: int

    @property
    def phi_bytes(self) -> float:
        """Of all rows."""
        return self.objects * self.columns * self.entry_bytes

    @property
    def cells(self) -> float:
        """(object, column) pairs answered about, at most."""
        return min(self.answers, self.objects * self.columns)


@dataclass(frozen=True)
class Cost:
    """Of one stage: work on all cores, bytes from disk and between workers, passes over its input, tasks."""

    core_seconds: float
    disk_bytes: float
    moved_bytes: float
    passes: float
    tasks: float


def features(work: Work, rates: Rates) -> Cost:
    """Count every piece, send each block its cells, add them up, divide by lengths."""
    sent = rates.cell_bytes_per_answer * work.answers
    levels = 1 if work.pieces <= FAN_IN else 2
    nanoseconds = (
        work.answers * rates.count_per_answer
        + (work.answers + (levels - 1) * work.cells) * rates.merge_per_cell
        + work.objects * work.columns * rates.make_per_entry
    )
    groups = -(-work.pieces // FAN_IN)
    return Cost(
        nanoseconds / 1e9,
        work.answers * rates.disk_bytes_per_answer,
        sent * (1 - 1 / work.workers),
        1,
        2 * work.pieces + work.blocks * (work.pieces + groups + 5),
    )


def a_map(work: Work, rates: Rates) -> Cost:
    """Counts, sums and a p x p scatter of every block, added up; then the objects are placed, twice for the signs."""
    square = 8.0 * work.columns**2
    flops = 2 * work.objects * work.columns**2
    passes = 6
    return Cost(
        flops / rates.scatter_gflops / 1e9 + passes * work.phi_bytes / rates.pass_gb_per_second / 1e9,
        0.0,
        square * work.blocks,
        passes,
        10 * work.blocks,
    )


def clusters(work: Work, rates: Rates) -> Cost:
    """A sample to start from; then rounds: sums of k x p leave every block, centres come back to every worker."""
    products = work.objects * work.clusters * work.columns
    centres = 8.0 * work.clusters * work.columns
    sample = float(min(work.objects, SAMPLE) * work.columns * work.entry_bytes)
    looks = 1 + BOUNDED * work.rounds
    in_sample = (1 + BOUNDED * LONGEST) * min(1.0, SAMPLE / work.objects)
    passes = 8
    return Cost(
        (looks + in_sample) * products * rates.step_per_product / 1e9
        + passes * work.phi_bytes / rates.pass_gb_per_second / 1e9,
        0.0,
        sample + work.rounds * centres * (work.blocks * (1 - 1 / work.workers) + work.workers),
        passes + work.rounds,
        (2 * work.blocks + 2) * work.rounds + 10 * work.blocks,
    )


STAGES = {"features": features, "map": a_map, "clusters": clusters}


def measured() -> tuple[Rates, Work, dict[str, Any], dict[str, Any]]:
    """Rates, the work they were measured on, and the rows of one thread and of two workers."""
    rows = json.loads((RESULTS / "scale-100000000.json").read_text())["rows"]
    found = {row["case"]: row for row in rows}
    rate, alone, two = (
        found[name] for name in ("rates of one core", "one machine, 1 thread", "Dask, 2 workers")
    )
    rates = Rates(
        rate["count_ns_per_answer"],
        rate["merge_ns_per_cell"],
        rate["row_ns_per_entry"],
        rate["first_step_ns_per_row_cluster_column"],
        rate["scatter_gflops"],
        rate["pass_gb_per_second"],
        rate["bytes_of_cells_per_answer"],
        alone["disk_bytes"] / alone["answers"],
        two["task_ms"] / 1e3,
    )
    work = Work(
        alone["objects"],
        alone["answers"],
        30 * 29 // 2,
        8,
        10,
        two["n_iter"],
        two["blocks"],
        two["pieces"],
        2,
    )
    return rates, work, alone, two


def check() -> list[list[str]]:
    """The model beside what was measured."""
    rates, work, alone, two = measured()
    rows = []
    for name, stage in STAGES.items():
        cost = stage(work, rates)
        rows.append(
            [
                name,
                f"{cost.core_seconds:.0f} + {cost.tasks * rates.task_seconds:.0f}",
                f"{two[f'{name}_cpu']:.0f}",
                f"{alone[f'{name}_cpu']:.0f}",
                f"{cost.moved_bytes / 1e6:.0f}",
                f"{two[f'moved_{name}'] / 1e6:.0f}",
                f"{cost.tasks:,.0f}",
            ]
        )
    return rows


def far_away(objects: float = 1e9, answers: float = 1e12) -> tuple[Work, list[list[str]], dict[str, float]]:
    """What it would take: machines of 32 cores, 128 GB, 25 Gbit/s, 1 GB/s from storage."""
    rates, *_ = measured()
    columns = 30 * 29 // 2
    phi = objects * columns * 4
    cells = min(answers, objects * columns) * rates.cell_bytes_per_answer
    machines = -(-(phi + 2 * cells) // (0.6 * 128e9))
    work = Work(
        objects,
        answers,
        columns,
        4,
        10,
        100,
        int(-(-phi // BLOCK_BYTES)),
        int(-(-answers // PIECE_ROWS)),
        int(machines),
    )
    cores, wire, disk = 32 * machines, 25e9 / 8, 1e9
    rows = []
    for name, stage in STAGES.items():
        cost = stage(work, rates)
        rows.append(
            [
                name,
                f"{cost.core_seconds / 3600:,.0f}",
                f"{cost.core_seconds / cores / 60:.1f}",
                f"{cost.disk_bytes / machines / disk / 60:.1f}",
                f"{cost.moved_bytes / 1e12:.2f}",
                f"{cost.moved_bytes / machines / wire / 60:.1f}",
                f"{cost.tasks:.1e}",
                f"{cost.tasks * rates.task_seconds / 3600:,.1f}",
            ]
        )
    return work, rows, {"machines": machines, "phi_TB": phi / 1e12, "cells_TB": cells / 1e12}


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    head = ["stage", "model: work + tasks, CPU s", "two workers, CPU s", "one process, CPU s"]
    print(table([*head, "model: moved, MB", "measured, MB", "tasks"], check()), "\n")
    work, rows, facts = far_away()
    print(facts, f"blocks {work.blocks:,}, pieces {work.pieces:,}\n")
    head = ["stage", "core hours", "minutes, cores", "minutes, storage", "TB moved", "minutes, wire"]
    print(table([*head, "tasks", "hours, scheduler"], rows))


if __name__ == "__main__":
    main()
