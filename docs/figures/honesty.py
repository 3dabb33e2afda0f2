import sys
import textwrap
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

sys.path.insert(0, str(Path.cwd().parents[1]))

from benchmarks.honesty.tables import TARGETS, measured, read_rows

claims = measured(read_rows())
figure, grid = plt.subplots(
    -(-len(claims) // 5), 5, figsize=(9.5, 1.25 * -(-len(claims) // 5)), layout="constrained", sharex=True
)
for axes in grid.flat[len(claims) :]:
    axes.set_visible(False)
for axes, (_, name, nominal, _, values) in zip(grid.flat, claims, strict=False):
    means = np.sort([np.mean(each) for each in values.values()])
    if nominal in TARGETS:
        low, high = TARGETS[nominal]
        axes.axvspan(low, high, color="#dbe7f3", lw=0)
        axes.axvline(high if low == 0 else low, color="#5d646d", lw=0.8, ls="--")
    axes.plot(means, np.arange(len(means)) + 0.5, "o", ms=3, color="#0072B2", alpha=0.7, clip_on=False)
    axes.axvline(np.mean(np.concatenate(list(values.values()))), color="#D55E00", lw=1.2)
    axes.set(xlim=(-0.03, 1.03), ylim=(0, len(means)), yticks=[], xticks=[0, 0.5, 1])
    axes.set_title(textwrap.fill(name, 32), size=7)
    axes.tick_params(labelsize=7, length=2)
plt.show()
