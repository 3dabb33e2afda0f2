"""
Clusters
========

Kernel k-means in the space of a model, with the most typical object of every cluster.
"""

import matplotlib.pyplot as plt

import nearfar as nf

toy = nf.datasets.make_toy("gaussians", 150)
questions = nf.design.random_questions(150, 6_000)
answers = nf.simulate.answers(questions, points=toy.points, flip=0.1).triplets

space = nf.fit(answers, "score")
clusters = space.clusters(3)
print(
    "purity against the groups they were drawn from:",
    nf.metrics.purity(clusters.labels, toy.labels),
)

fig, axes = plt.subplots(1, 2, figsize=(7.2, 3.6))
for ax, points, title in zip(
    axes,
    (toy.points, space.map(2)),
    ("where they are in truth", "the map from the answers"),
    strict=True,
):
    for cluster, medoid in enumerate(clusters.medoids):
        ax.scatter(*points[clusters.labels == cluster].T, s=18)
        ax.scatter(*points[medoid], c="black", marker="*", s=110, zorder=3)
    ax.set_title(title)
    ax.set_aspect("equal", "datalim")
    ax.set_axis_off()
plt.show()

# %%
# Colours are clusters, stars their most typical objects. Both come from the answers alone; the left picture shows where the
# objects really are.
