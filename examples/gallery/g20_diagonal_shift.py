"""
The diagonal shift
==================

Where two objects share few questions, K is dominated by its diagonal. Taking the smallest eigenvalue off the diagonal
leaves every comparison between different objects as it is, and frees k-means and maps from the self-similarity.
"""

import matplotlib.pyplot as plt
import numpy as np

import nearfar as nf

toy = nf.datasets.make_toy("gaussians", 90)
answers = nf.simulate.answers(
    nf.design.random_questions(90, 12_000), points=toy.points
).triplets
kept = nf.kernel_matrix(answers, "k1", diagonal="keep")
shifted = nf.kernel_matrix(answers, "k1")

fig, axes = plt.subplots(1, 3, figsize=(7.2, 2.6), width_ratios=[1, 1, 1.3])
for ax, K, name in ((axes[0], kept, "as it is"), (axes[1], shifted, "shifted")):
    ax.imshow(K, cmap="viridis", vmin=-0.2, vmax=1)
    ax.set(title=name, xticks=[], yticks=[])
axes[2].plot(np.linalg.eigvalsh(kept)[::-1], label="as it is")
axes[2].plot(np.linalg.eigvalsh(shifted)[::-1], label="shifted")
axes[2].axhline(0, color="#56606d", linewidth=1)
axes[2].set(title="eigenvalues", yscale="symlog", xlabel="number")
axes[2].legend()
plt.show()

print(f"taken off the diagonal: {nf.fit(answers, 'k1').shift:.3f}")
