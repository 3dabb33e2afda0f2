"""
Outliers
========

Objects that are less like even their nearest neighbours than is usual. Three of these sixty were put far away from the
others.
"""

import matplotlib.pyplot as plt
import numpy as np

import nearfar as nf

rng = np.random.default_rng(4)
points = np.vstack(
    [rng.uniform(-1, 1, size=(57, 2)), [[4.0, 0.0], [-1.0, 4.0], [-3.5, -3.0]]]
)
names = [f"object {x}" for x in range(57)] + ["stray A", "stray B", "stray C"]
answers = nf.simulate.answers(
    nf.design.random_questions(names, 9_000), points=points, noise=0.1
).triplets

space = nf.fit(answers, "soe-2")
outliers = space.outliers()
print([names[x] for x in outliers.flagged])

fig, ax = plt.subplots()
order = np.argsort(outliers.scores)
strange = np.isin(order, outliers.flagged)
ax.bar(range(60), outliers.scores[order], color=np.where(strange, "#b35806", "#9fb6d9"))
ax.axhline(outliers.threshold, color="#56606d", linestyle="--", linewidth=1)
ax.set_xlabel("objects, the most usual first")
ax.set_ylabel("1 - mean similarity to neighbours")
ax.set_title("what stands above the line is like nothing else")
plt.show()
