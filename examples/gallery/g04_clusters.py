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

fig, (left, right) = plt.subplots(
    1, 2, figsize=(7.2, 3.4), subplot_kw={"xticks": [], "yticks": []}
)
left.scatter(*toy.points.T, c=clusters.labels, cmap="Set2", s=18)
left.set_title("where they are, clusters by answers")
points = space.map(2)
right.scatter(*points.T, c=clusters.labels, cmap="Set2", s=18)
right.scatter(
    *points[clusters.medoids].T, c="black", marker="*", s=90, label="most typical"
)
right.set_title("the map from the answers")
right.legend()
plt.show()
