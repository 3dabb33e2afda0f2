"""
Dask
====

The same verbs on a cluster: here two worker processes on this machine, elsewhere ``tcp://HOST:PORT``.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

import nearfar as nf


def by_workers(pattern, names, landmarks):
    """Clusters and a map, read and computed by two worker processes."""
    with nf.scale.connect("local:2"):
        answers = nf.scale.read_triplets(pattern, objects=names)
        phi = nf.scale.FeatureMap("k1", landmarks=landmarks).fit_transform(answers)
        labels = nf.scale.KernelKMeans(n_clusters=3, random_state=0).fit_predict(phi)
        points = nf.scale.KernelPCA(2).fit_transform(phi)
        return labels.to_array(), points.to_array()


def main():
    """Write answers to three files, and let the workers read them."""
    folder = Path(tempfile.mkdtemp())
    toy = nf.datasets.make_toy("gaussians", 300)
    names = [f"object {x}" for x in range(300)]
    landmarks = names[::30]
    questions = nf.design.landmark_questions(names, landmarks, "k1", budget=12_000)
    answers = nf.simulate.answers(questions, points=toy.points, flip=0.1).triplets
    for part in range(3):
        nf.write_triplets(answers[part::3], folder / f"answers-{part}.parquet")

    labels, points = by_workers(str(folder / "*.parquet"), names, landmarks)
    print("purity:", nf.metrics.purity(labels, toy.labels))
    _fig, ax = plt.subplots(figsize=(6.4, 4.6))
    for cluster in range(3):
        ax.scatter(*points[labels == cluster].T, s=14)
    ax.set(title="map and clusters, computed by two workers", aspect="equal")
    ax.set_axis_off()
    plt.show()


if __name__ == "__main__":  # worker processes import this file, too
    main()
