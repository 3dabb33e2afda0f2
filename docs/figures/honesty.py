import json
import sys
import textwrap
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

sys.path.insert(0, str(Path.cwd().parents[1]))

from benchmarks.honesty.tables import ROWS, measured

NOMINAL = {"95 %": 0.95, "9 in 10 objects": 0.9, "at most 5 %": 0.05, "at least 80 %": 0.8}
statements = measured([json.loads(line) for line in ROWS.read_text().splitlines()])
figure, grid = plt.subplots(3, 6, figsize=(9.5, 4.6), layout="constrained", sharex=True)
for axes in grid.flat[len(statements) :]:
    axes.set_visible(False)
for axes, (name, nominal, _, values) in zip(grid.flat, statements, strict=False):
    means = np.sort([np.mean(each) for each in values.values()])
    level = NOMINAL.get(nominal)
    if level is not None:
        axes.axvspan(
            0 if nominal.startswith("at most") else level,
            level if nominal.startswith("at most") else 1,
            color="#dbe7f3",
            lw=0,
        )
        axes.axvline(level, color="#5d646d", lw=0.8, ls="--")
    axes.plot(means, np.arange(len(means)) + 0.5, "o", ms=3, color="#0072B2", alpha=0.7, clip_on=False)
    axes.axvline(np.mean(np.concatenate(list(values.values()))), color="#D55E00", lw=1.2)
    axes.set(xlim=(-0.03, 1.03), ylim=(0, len(means)), yticks=[], xticks=[0, 0.5, 1])
    axes.set_title(textwrap.fill(name, 24), size=7)
    axes.tick_params(labelsize=7, length=2)
plt.show()
