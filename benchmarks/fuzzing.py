"""A longer run of the differential fuzzer: files with faults, against Python's csv and json modules.

    python -m benchmarks.fuzzing                       2,000 files from seed 1,000 on
    python -m benchmarks.fuzzing --files 20000 --seed 5

Every file is read whole, in batches, in small chunks and by the slow parser alone. A file that is read differently is
named by its seed, and kept under benchmarks/.data.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from benchmarks._measure import ROOT, save, show

sys.path.insert(0, str(ROOT / "tests" / "io"))

import fuzz


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1_000)
    given = parser.parse_args()
    kept = ROOT / "benchmarks" / ".data"
    kept.mkdir(exist_ok=True)
    wrong, n_bytes, answers, rejected, start = [], 0, 0, 0, time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(given.seed, given.seed + given.files):
            made = fuzz.case(seed)
            n_bytes += len(made.data)
            answers, rejected = answers + len(made.answers), rejected + len(made.rejected)
            try:
                fuzz.check(made, Path(folder))
            except Exception as error:
                wrong.append(seed)
                (kept / f"fuzz-{seed}-{made.name}").write_bytes(made.data)
                print(f"seed {seed}: {type(error).__name__}: {error}")
    rows = [
        {
            "files": given.files,
            "first_seed": given.seed,
            "bytes": n_bytes,
            "answers": answers,
            "rejected": rejected,
            "read_differently": len(wrong),
            "seeds": wrong,
            "seconds": time.perf_counter() - start,
        }
    ]
    show(rows)
    print("rows kept in", save("fuzzing", rows))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
