"""
The kernels on the paper's toy sets
===================================

Objects that are near to each other should have a large kernel value, from answers alone. Five sets as in section 2.2
of the paper, a tenth of all possible questions answered; objects are sorted by their group.
"""

import matplotlib.pyplot as plt
import numpy as np

import nearfar as nf

N = 90
questions = nf.design.random_questions(N, N * (N - 1) * (N - 2) // 20)

fig, axes = plt.subplots(
    5, 4, figsize=(7.2, 9), subplot_kw={"xticks": [], "yticks": []}
)
for row, name in zip(axes, nf.datasets.TOYS, strict=True):
    toy = nf.datasets.make_toy(name, N)
    answers = nf.simulate.answers(questions, distances=toy.distances).triplets
    if toy.points is not None:
        row[0].scatter(*toy.points.T, c=toy.labels, s=8, cmap="tab10")
    else:
        row[0].imshow(toy.distances, cmap="Greys")
    row[0].set_ylabel(name)
    for ax, kernel in zip(row[1:], ("k1", "k2", "score"), strict=True):
        K = nf.kernel_matrix(answers, kernel)
        K[np.diag_indices(N)] = np.nan  # the diagonal says nothing about pairs
        ax.imshow(K, cmap="viridis")
        if name == "gaussians":
            ax.set_title(kernel)
axes[0, 0].set_title("the set")
plt.show()

# %%
# Blocks along the diagonal are groups. The square has none and is sorted from left to right, so its matrices fade
# evenly away from the diagonal. The last set is a graph: most of its distances tie, and are not asked about.
