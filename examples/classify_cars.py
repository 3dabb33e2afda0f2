"""Classify objects that have no coordinates: four classes of cars, from answers alone.

    python examples/classify_cars.py            (data: downloaded, or from the folder in $NEARFAR_DATA)

K goes to any kernel method, Phi to any linear one. Every accuracy is cross-validated over cars and stands beside
that of a dummy which always says the most frequent class.
"""

from __future__ import annotations

import numpy as np
from sklearn.cluster import SpectralClustering
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.svm import SVC, LinearSVC

import nearfar as nf


def accuracies(answers, classes, kernel="score", folds=4, repeats=3):
    """Cross-validated accuracy of three classifiers and a dummy: name -> mean over folds."""
    K = nf.kernel_matrix(
        answers, kernel
    )  # shifted: less self-similarity, same information
    phi = nf.FeatureMap(kernel).fit_transform(answers)
    cv = RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=0)
    models = {
        "SVC on the precomputed K": (SVC(kernel="precomputed", C=10.0), K),
        "LinearSVC on Phi": (LinearSVC(C=1.0), phi),
        "logistic regression on Phi": (LogisticRegression(C=100.0, max_iter=1000), phi),
        "dummy, most frequent class": (DummyClassifier(strategy="most_frequent"), phi),
    }
    return {
        name: float(cross_val_score(model, X, classes, cv=cv).mean())
        for name, (model, X) in models.items()
    }


def spectral_purity(answers, classes, kernel="score", landmarks=None):
    """Purity against the classes: of one cluster for all, and of spectral clustering on K."""
    K = nf.kernel_matrix(answers, kernel, landmarks=landmarks)
    affinity = (K - K.min()) / (
        K.max() - K.min()
    )  # spectral clustering wants weights from 0 on
    k = len(set(classes))
    labels = SpectralClustering(
        n_clusters=k, affinity="precomputed", random_state=0
    ).fit_predict(affinity)
    codes = np.unique(classes, return_inverse=True)[1]
    return nf.metrics.purity(np.zeros(len(codes), dtype=int), codes), nf.metrics.purity(
        labels, codes
    )


def main():
    """Print accuracies for the cars."""
    cars = nf.datasets.fetch_car()
    for kernel in ("k1", "score"):
        print(
            f"{len(cars.groups)} cars in {len(set(cars.groups))} classes, {len(cars.triplets):,} answers, {kernel}"
        )
        for name, accuracy in accuracies(cars.triplets, cars.groups, kernel).items():
            print(f"  {name:<28} {accuracy:.2f}")
        one, many = spectral_purity(cars.triplets, cars.groups, kernel)
        print(
            f"  spectral clustering on K: purity {many:.2f} (all in one cluster: {one:.2f})"
        )


if __name__ == "__main__":
    main()
