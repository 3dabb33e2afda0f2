"""``python -m benchmarks [NAME ...]``: run benchmarks one after the other; with no name, those that take minutes.

Longer ones are run by name: streaming (half a billion answers, 15 GB of disk), scale, accuracy.embeddings (builds
cblearn's own environment; hours), accuracy.score_variants, accuracy.leak, ask (load; needs a quiet machine),
ask_faults (200 kills), ask_balance, ask_adaptive_balance, start_up (whole commands), adaptive (simulated studies).
"""

from __future__ import annotations

import importlib
import sys

MINUTES = ("core", "reading", "methods")


def main() -> None:
    names = sys.argv[1:] or MINUTES
    del sys.argv[1:]  # a benchmark reads its own arguments only when it is run by itself
    for name in names:
        print(f"== {name}", flush=True)
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main()
