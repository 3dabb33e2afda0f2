"""Longer runs of the two fuzzers: files with faults against Python's csv and json modules, and broken files in commands.

    python -m benchmarks.fuzzing                       2,000 files from seed 1,000 on, and as many broken ones
    python -m benchmarks.fuzzing --files 20000 --seed 5

Every file with faults is read whole, in batches, in small chunks and by the slow parser alone, always with the same answers and
rejected rows. On every broken file of any format ``check``, ``convert`` and ``kernel`` end with a result or with one sentence. A
file for which that does not hold is named by its seed, and kept under benchmarks/.data.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks._measure import DATA, ROOT, save, show, size

sys.path.insert(0, str(ROOT / "tests" / "io"))

import fuzz
import mutations


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=size(2_000, 5))
    parser.add_argument("--seed", type=int, default=1_000)
    given = parser.parse_args()
    seeds = range(given.seed, given.seed + given.files)
    faulty, broken = run(fuzz, fuzz.case, seeds), run(mutations, mutations.mutated, seeds)
    for name, row in (("fuzzing", faulty), ("fuzzing_broken", broken)):
        show([row])
        print("rows kept in", save(name, [row]))
    sys.exit(1 if faulty["seeds"] or broken["seeds"] else 0)


def run(fuzzer: Any, make: Any, seeds: range) -> dict[str, Any]:
    """Make and check one file per seed; what was counted."""
    DATA.mkdir(parents=True, exist_ok=True)
    wrong, counts, start = [], Counter[str](), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            made = make(seed)
            counts["bytes"] += len(made.data)
            try:
                counts.update(fuzzer.check(made, Path(folder)))
            except Exception as error:
                wrong.append(seed)
                (DATA / f"fuzz-{seed}-{made.name}").write_bytes(made.data)
                print(f"seed {seed}: {type(error).__name__}: {error}")
    return {
        "files": len(seeds),
        "first_seed": seeds.start,
        **counts,
        "wrong": len(wrong),
        "seeds": wrong,
        "peak_bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        "seconds": time.perf_counter() - start,
    }


if __name__ == "__main__":
    main()
