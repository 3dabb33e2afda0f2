"""What features, a map and clusters cost on many machines: a model, its check, and a billion objects.

    python -m benchmarks.cost_model    measures rates of one core and prints the tables of docs/scale.md

The model is checked against what ``benchmarks.scale --answers 100000000 --objects 1000000`` measured. Everything but
the rates is counting: answers, cells, entries of Phi, blocks, rounds.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks._measure import KEPT, in_child, save, size
from benchmarks.scale import CLUSTERS
from benchmarks.streaming import LANDMARKS, make_files
from nearfar.methods.kernel_kmeans import SAMPLE
from nearfar.scale._engine import FAN_IN
from nearfar.scale.feature_map import BLOCK_BYTES, enough_runs
from nearfar.scale.reading import PIECE_ROWS

BOUNDED = 0.1  # of a look at every centre from every row: what a round of k-means costs once it has bounds
LONGEST = 100  # rounds on a sample


ANSWERS, OBJECTS, COLUMNS = 100_000_000, 1_000_000, LANDMARKS * (LANDMARKS - 1) // 2
FOR_RATES = size((ANSWERS, OBJECTS), (32_000, 400))  # answers and objects that the rates are measured on
CORES, MEMORY, WIRE, STORAGE = 32, 128e9, 25e9 / 8, 1e9  # of one machine; bytes, bytes a second


@dataclass(frozen=True)
class Rates:
    """Of one core; nanoseconds unless it says otherwise."""

    count_per_answer: float
    merge_per_cell: float
    add_per_cell: float
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
    """Count every piece, send each block its cells, add them up, divide by lengths.

    Runs of cells are merged when there are enough of a size, and at the end to a single one; those that are left are
    added to the rows straight. A run travels unless the one that takes it is there already.
    """
    merged = added = 0.0
    runs, in_run = work.pieces, work.answers / work.pieces
    for enough in enough_runs(in_run, work.objects * work.columns):
        left = runs % enough
        merged += (runs - left) * min(in_run, work.cells)
        added += left * min(in_run, work.cells)
        runs, in_run = runs // enough, in_run * enough
    merged += 2 * max(0, runs - 1) * work.cells
    added += min(runs, 1) * min(in_run, work.cells)
    nanoseconds = (
        work.answers * rates.count_per_answer
        + merged * rates.merge_per_cell
        + added * rates.add_per_cell
        + work.objects * work.columns * rates.make_per_entry
    )
    merges = -(-work.pieces // (FAN_IN - 1))
    return Cost(
        nanoseconds / 1e9,
        work.answers * rates.disk_bytes_per_answer,
        (merged + added) * rates.cell_bytes_per_answer * (1 - 1 / work.workers),
        1,
        2 * work.pieces + work.blocks * (work.pieces + merges + 5),
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


def rates_of_one_core(paths: list[str], n_objects: int) -> dict[str, Any]:
    """How fast one core is at every kind of task, on a block of the size that workers get."""
    import fsspec
    from threadpoolctl import threadpool_limits

    from nearfar.blocks import RowBlocks
    from nearfar.kernel.phi import column_counts
    from nearfar.methods._lloyd import Gram
    from nearfar.methods._rows import scatter_of
    from nearfar.scale import _counting
    from nearfar.scale._engine import run_row
    from nearfar.scale.file_chunks import FileChunk

    recipe = _counting.Recipe("k1", n_objects, tuple(range(LANDMARKS)), min(n_objects, 18_432))
    files, options = fsspec.open_files(paths, "rb"), {"objects": n_objects}
    piece = FileChunk(options, files[0], "parquet", groups=(0, 1, 2, 3))
    others = [
        FileChunk(options, file, "parquet", groups=(group,)) for file in files[:2] for group in range(8)
    ]

    def seconds(work: Any, *arguments: Any) -> tuple[float, Any]:
        best = float("inf")
        for _ in range(4):  # the first run compiles
            start = time.perf_counter()
            result = run_row(work, (), arguments)
            best = min(best, time.perf_counter() - start)
        return best, result

    with threadpool_limits(1):
        reading, answers = seconds(lambda: sum(len(anchor) for anchor, _, _ in piece.read(None)))
        counting, counted = seconds(_counting.count_piece, recipe, piece, None)
        cells = [run_row(_counting.count_piece, (), (recipe, each, None))[0][0] for each in others]
        merging, _ = seconds(_counting.merge, recipe, 0, cells)
        make = (_counting.make_rows, recipe, 0)
        form = (None, [True], ("dense", "float64"))
        from_one, _ = seconds(*make, cells[:1], *form)
        from_all, made = seconds(*make, cells, *form)
        phi = made[0]
        passing, _ = seconds(column_counts, phi)
        scattering, _ = seconds(scatter_of, phi, phi.mean(axis=0))
        labels = np.arange(len(phi), dtype=np.int32) % CLUSTERS
        gram = Gram(RowBlocks.of(phi))
        centres, _ = gram.centres(gram.begin(labels, CLUSTERS)[1], None)
        stepping, _ = seconds(lambda: gram.step(gram.begin(labels, CLUSTERS)[0], centres))
    in_run = [len(parts[0].keys) for parts in cells]
    adding = (from_all - from_one) / sum(in_run[1:])
    sent = sum(column.nbytes for block in counted[0] for part in block for column in part)
    return {
        "read_ns_per_answer": 1e9 * reading / answers,
        "count_ns_per_answer": 1e9 * counting / answers,
        "bytes_of_cells_per_answer": sent / answers,
        "merge_ns_per_cell": 1e9 * merging / sum(in_run),
        "add_ns_per_cell": 1e9 * adding,
        "row_ns_per_entry": 1e9 * (from_one - adding * in_run[0]) / phi.size,
        "pass_gb_per_second": phi.nbytes / passing / 1e9,
        "scatter_gflops": 2 * phi.shape[0] * phi.shape[1] ** 2 / scattering / 1e9,
        "first_step_ns_per_row_cluster_column": 1e9 * stepping / (phi.size * CLUSTERS),
    }


STAGES = {"features": features, "map": a_map, "clusters": clusters}


@dataclass(frozen=True)
class Measured:
    """What is known: rates, the work that was measured, and the rows of one process and of two workers."""

    rates: Rates
    work: Work
    alone: dict[str, Any]
    two: dict[str, Any]

    def times_model(self, stage: str) -> float:
        """CPU seconds of two workers beside those of the model."""
        cost = STAGES[stage](self.work, self.rates)
        busy: float = self.two[f"{stage}_cpu"]
        return busy / (cost.core_seconds + cost.tasks * self.rates.task_seconds)


def measure() -> Measured:
    """Measure the rates; what they are checked against is there already."""
    rate = in_child("benchmarks.cost_model", "rates_of_one_core", make_files(*FOR_RATES), FOR_RATES[1])
    rows = json.loads((KEPT / f"scale-{ANSWERS}.json").read_text())["rows"]
    found = {row["case"]: row for row in rows if "round" not in row}
    alone, two = found["one machine, 1 thread"], found["Dask, 2 workers"]
    rates = Rates(
        rate["count_ns_per_answer"],
        rate["merge_ns_per_cell"],
        rate["add_ns_per_cell"],
        rate["row_ns_per_entry"],
        rate["first_step_ns_per_row_cluster_column"],
        rate["scatter_gflops"],
        rate["pass_gb_per_second"],
        rate["bytes_of_cells_per_answer"],
        alone["disk_bytes"] / alone["answers"],
        two["task_ms"] / 1e3,
    )
    work = Work(OBJECTS, ANSWERS, COLUMNS, 8, CLUSTERS, two["n_iter"], two["blocks"], two["pieces"], 2)
    save("cost_model", [rate])
    return Measured(rates, work, alone, two)


def check(known: Measured) -> list[list[str]]:
    """The model beside what was measured."""
    rows = []
    for name, stage in STAGES.items():
        cost = stage(known.work, known.rates)
        rows.append(
            [
                name,
                f"{cost.core_seconds:.0f} + {cost.tasks * known.rates.task_seconds:.0f}",
                f"{known.two[f'{name}_cpu']:.0f}",
                f"{known.alone[f'{name}_cpu']:.0f}",
                f"{cost.moved_bytes / 1e6:.0f}",
                f"{known.two[f'moved_{name}'] / 1e6:.0f}",
                f"{cost.tasks:,.0f}",
            ]
        )
    return rows


def far_away(objects: float, answers: float) -> Work:
    """Phi in float32, and before it three times the cells, in 60 % of the memory of as many machines as that takes."""
    phi, cells = objects * COLUMNS * 4, 6 * min(answers, objects * COLUMNS)
    machines = int(-(-max(phi, 3 * cells) // (0.6 * MEMORY)))
    blocks, pieces = int(-(-phi // BLOCK_BYTES)), int(-(-answers // PIECE_ROWS))
    return Work(objects, answers, COLUMNS, 4, CLUSTERS, 100, blocks, pieces, machines)


def forecast(known: Measured, work: Work) -> list[list[str]]:
    """Minutes that cores, storage, wire and scheduler would need if nothing else mattered."""
    rows = []
    for name, stage in STAGES.items():
        cost = stage(work, known.rates)
        busy = cost.core_seconds * known.times_model(name)
        minutes = (
            busy / CORES / work.workers / 60,
            cost.disk_bytes / STORAGE / work.workers / 60,
            cost.moved_bytes / WIRE / work.workers / 60,
            cost.tasks * known.rates.task_seconds / 60,
        )
        shown = [f"{value:,.1f}" if value < 100 else f"{value:,.0f}" for value in minutes]
        rows.append(
            [name, f"{busy / 3600:,.0f}", *shown, f"{cost.moved_bytes / 1e12:.2f}", f"{cost.tasks:.1e}"]
        )
    return rows


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    known = measure()
    print(known.rates, "\n")
    head = ["stage", "model: work + tasks, CPU s", "two workers, CPU s", "one process, CPU s"]
    print(table([*head, "model: moved, MB", "measured, MB", "tasks"], check(known)), "\n")
    work = far_away(1e9, 1e12)
    print(
        f"{work.workers} machines, {work.phi_bytes / 1e12:.2f} TB of Phi, {work.blocks:,} blocks, {work.pieces:,} pieces\n"
    )
    head = ["stage", "core hours", "minutes: cores", "storage", "wire", "scheduler"]
    print(table([*head, "TB moved", "tasks"], forecast(known, work)))


if __name__ == "__main__":
    main()
