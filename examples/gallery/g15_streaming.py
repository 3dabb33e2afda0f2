"""
Streaming
=========

Answers from files that need not fit into memory: batches of any size and in any order give the same Phi, to the last
bit. Here the map is redrawn after every file.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

import nearfar as nf

folder = Path(tempfile.mkdtemp())
toy = nf.datasets.make_toy("rings", 150)
names = [f"object {x}" for x in range(150)]
landmarks = names[::15]
questions = nf.design.landmark_questions(names, landmarks, "k1", budget=6_000)
answers = nf.simulate.answers(questions, points=toy.points, flip=0.05).triplets
for part in range(4):
    nf.write_triplets(answers[part::4], folder / f"day-{part + 1}.parquet")

feature_map = nf.FeatureMap("k1", landmarks=landmarks)
fig, axes = plt.subplots(1, 4, figsize=(7.2, 2.1))
for ax, path in zip(axes, sorted(folder.glob("*.parquet")), strict=True):
    for batch in nf.scan_triplets(path, objects=names):
        feature_map.partial_fit(batch)
    points = nf.KernelPCA(2).fit_transform(feature_map.features_)
    ax.scatter(*points.T, c=toy.labels, s=6, cmap="tab10")
    ax.set_title(path.stem)
    ax.set_aspect("equal", "datalim")
    ax.set_axis_off()
plt.show()

whole = nf.FeatureMap("k1", landmarks=landmarks).fit_transform(answers)
print("the same as from all answers at once:", (feature_map.features_ == whole).all())
