"""
Score against k1 on sparse data
===============================

With few answers per object k1 has nothing to compare, and its matrix is almost diagonal. The score kernel keeps one
column per object instead of one per pair, and still sees the groups.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import nearfar as nf

warnings.simplefilter("ignore", nf.errors.CoverageWarning)
toy = nf.datasets.make_toy("gaussians", 120)
test = nf.simulate.answers(
    nf.design.random_questions(120, 5_000, seed=99), points=toy.points
).triplets

per_object = [10, 20, 40, 80, 160, 320]
accuracy = {"k1": [], "score": []}
matrices = {}
for each in per_object:
    answers = nf.simulate.answers(
        nf.design.random_questions(120, 120 * each), points=toy.points
    ).triplets
    for kernel, values in accuracy.items():
        values.append(np.mean(nf.fit(answers, kernel).credits(test)))
        if each == 20:
            matrices[kernel] = nf.kernel_matrix(answers, kernel, diagonal="keep")

fig, axes = plt.subplots(1, 3, figsize=(7.2, 2.8), width_ratios=[1.6, 1, 1])
for kernel, values in accuracy.items():
    axes[0].plot(per_object, values, "o-", label=kernel)
axes[0].set(
    xscale="log",
    xlabel="answers per object",
    ylabel="new answers predicted",
    ylim=(0.45, 1),
)
axes[0].set_xticks(per_object, per_object)
axes[0].minorticks_off()
axes[0].legend()
for ax, (kernel, K) in zip(axes[1:], matrices.items(), strict=True):
    ax.imshow(K, vmin=-0.5, vmax=0.5, cmap="PuOr")
    ax.set(xticks=[], yticks=[], title=f"K of {kernel}, 20 each")
plt.show()
