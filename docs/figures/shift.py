import matplotlib.pyplot as plt
import numpy as np

import nearfar as nf

toy = nf.datasets.make_toy("gaussians", 60)
answers = nf.simulate.answers(nf.design.random_questions(60, 5_000), points=toy.points).triplets
kept = nf.kernel_matrix(answers, "k1", diagonal="keep")
shifted = nf.kernel_matrix(answers, "k1")
s = kept[0, 0] - shifted[0, 0]
fig, axes = plt.subplots(1, 2, figsize=(7.4, 2.9))
axes[0].bar(range(60), np.linalg.eigvalsh(kept)[::-1], color="#9fb6d9", label="K")
axes[0].bar(range(60), np.linalg.eigvalsh(shifted)[::-1], color="#2457a6", label="K - s I")
axes[0].set(
    xlabel="eigenvalue, the largest first", ylim=(0, 2.5), title=f"every eigenvalue falls by s = {s:.2f}"
)
axes[0].legend()
i, j = np.triu_indices(60, 1)
squares = [K[i, i] + K[j, j] - 2 * K[i, j] for K in (kept, shifted)]
together = toy.labels[i] == toy.labels[j]
bins = np.linspace(0, 2.5, 50)
axes[1].hist([squares[0][together], squares[0][~together]], bins, stacked=True, color=["#cfe0d8", "#e9d5c0"])
axes[1].hist([squares[1][together], squares[1][~together]], bins, stacked=True, color=["#1a7457", "#b35806"])
axes[1].set(xlabel="squared distance of two objects", yticks=[], title="every squared distance falls by 2 s")
axes[1].annotate("shifted", (0.75, 0.9), xycoords="axes fraction", color="#56606d")
axes[1].annotate("same group", (0.03, 0.9), xycoords="axes fraction", color="#1a7457")
axes[1].annotate("other group", (0.03, 0.8), xycoords="axes fraction", color="#b35806")
axes[1].texts[0].set_visible(False)
plt.show()
