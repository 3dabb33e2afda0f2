"""Classify objects that nobody had seen when the model was trained: digits, by answers about landmarks.

    python examples/classify_new_digits.py      (data: downloaded, or from the folder in $NEARFAR_DATA)

Some digits are landmarks. About every digit x we ask "is x nearer to landmark l or to l'?" and answer by pixels.
FeatureMap learns its columns from the training digits; the answers about a new digit then give its row of Phi at
once, with no refitting, and a classifier trained on old rows takes it as it is.
"""

from __future__ import annotations

import numpy as np
from classify_cars import spectral_purity
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC, LinearSVC

import nearfar as nf

FLIP = 0.1  # share of answers that are wrong


def ask(points, names, landmarks, per_object, seed):
    """Answers "x is nearer to landmark l than to l'" about all the named objects."""
    questions = nf.design.landmark_questions(
        names, landmarks, "k1", budget=per_object * len(names), seed=seed
    )
    return nf.simulate.answers(questions, points=points, flip=FLIP, seed=seed).triplets


def classify_new(points, digits, n_train, *, n_landmarks=20, per_object=100, seed=0):
    """(accuracies, purity): per classifier, cross-validated in training and on digits never seen there."""
    names = np.array([f"digit {x}" for x in range(len(points))])
    chosen = np.sort(
        np.random.default_rng(seed).choice(n_train, n_landmarks, replace=False)
    )
    landmarks = names[chosen].tolist()

    answers = ask(
        points[:n_train], names[:n_train].tolist(), landmarks, per_object, seed
    )
    feature_map = nf.FeatureMap("k1", landmarks=landmarks)
    phi = feature_map.fit_transform(answers)

    # later, others are asked about new digits and the same landmarks: the columns are found by their names
    later = np.concatenate([chosen, np.arange(n_train, len(points))])
    new_answers = ask(
        points[later], names[later].tolist(), landmarks, per_object, seed + 1
    )
    rows = feature_map.transform(new_answers)[n_landmarks:]

    models = {
        "SVC on K": (
            SVC(kernel="precomputed", C=10.0),
            phi @ phi.T,
            nf.cross_kernel(rows, phi),
        ),
        "LinearSVC on Phi": (LinearSVC(C=0.1), phi, rows),
        "logistic regression on Phi": (
            LogisticRegression(C=10.0, max_iter=2000),
            phi,
            rows,
        ),
        "dummy, most frequent digit": (
            DummyClassifier(strategy="most_frequent"),
            phi,
            rows,
        ),
    }
    result = {}
    for name, (model, X, X_new) in models.items():
        inside = float(cross_val_score(model, X, digits[:n_train], cv=5).mean())
        outside = float(model.fit(X, digits[:n_train]).score(X_new, digits[n_train:]))
        result[name] = inside, outside
    return result, spectral_purity(answers, digits[:n_train], "k1", landmarks)


def main():
    """Print accuracies for USPS."""
    usps = nf.datasets.fetch_usps()
    n_train, n_new = 1000, 500
    taken = np.concatenate([np.arange(n_train), usps.n_train + np.arange(n_new)])
    accuracies, (one, many) = classify_new(
        usps.points[taken], usps.labels[taken], n_train
    )
    print(
        f"{n_train} digits to train on, {n_new} new ones, 100 answers about each, {FLIP:.0%} of them wrong"
    )
    for name, (inside, outside) in accuracies.items():
        print(f"  {name:<28} cross-validated {inside:.2f}   new digits {outside:.2f}")
    print(
        f"  spectral clustering on K: purity {many:.2f} (all in one cluster: {one:.2f})"
    )


if __name__ == "__main__":
    main()
