"""
4. Spaces, classifiers and new objects
======================================

You are a machine-learning engineer. Objects have no features, only answers "A is nearer to B than to C", and labels for some
of them. This page makes features, trains classifiers, cross-validates them in the two ways that mean something, and
classifies objects that were not there in training.
"""

# %%
# Answers
# -------
# Handwritten digits, asked about twelve landmarks (*is this digit nearer to landmark l or to l'?*), one answer in ten
# wrong.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

import nearfar as nf

digits = load_digits(n_class=5)
N, LANDMARKS = 300, 12
pixels, label = digits.data[:N], digits.target[:N]
names = np.array([f"digit {x}" for x in range(N)])
landmarks = names[:LANDMARKS].tolist()
questions = nf.design.landmark_questions(names.tolist(), landmarks, "k1", budget=40 * N)
answers = nf.simulate.answers(questions, points=pixels, flip=0.1, seed=0).triplets
print(answers)

# %%
# A space
# -------
# A model turns answers into a space: a row per object, from which everything follows. The rows of a kernel are features of unit
# length; those of an embedding are points.

space = nf.fit(answers, "k1", landmarks=landmarks)
print(space, space.rows.shape)
print(nf.fit(answers, "soe-5"))

# %%
# Which one? Held-out answers decide.

print(nf.compare(answers, ["score", "soe-5", "tste-2"], cv=3))

# %%
# Classifiers
# -----------
# K for kernel methods, Phi for linear ones, points for anything else. Cross-validation *over objects* asks: is the label of an
# object found, when the labels of others are known?

K = space.kernel()
phi = space.rows
for name, model, X in (
    ("SVC on K", SVC(kernel="precomputed", C=10), K),
    ("logistic regression on Phi", LogisticRegression(C=10, max_iter=2000), phi),
    (
        "logistic regression on soe-5",
        LogisticRegression(C=10, max_iter=2000),
        nf.fit(answers, "soe-5").rows,
    ),
):
    print(f"{name:<30} {cross_val_score(model, X, label, cv=5).mean():.3f}")

# %%
# Two kinds of cross-validation
# -----------------------------
# Over objects, as above, judges *labels*. Over answers, as ``nf.compare`` does, judges the *space*: whether it predicts answers
# that it was not made from. They are different questions, and a hyperparameter of the space should be chosen by the
# second, without looking at any label. Never cut the rows of a table of answers at random: :ref:`an answer and its
# twin <sphx_glr_gallery_g13_a_leak.py>` would end up on both sides. ``nf.kfold`` and ``nf.holdout`` keep them together.

train, test = nf.holdout(answers, 0.2)
held_out = answers[test]
for n_components in (1, 2, 5, 10):
    points = nf.embedding.SOE(n_components).fit(answers[train])
    print(
        f"soe-{n_components:<2} predicts {points.score(held_out):.3f} of held-out answers"
    )

# %%
# New objects
# -----------
# Later, a hundred more digits come in. They are asked about the same landmarks, and their answers alone give their rows:
# nothing is fitted again.

later = np.arange(N, N + 100)
more = [*landmarks, *(f"digit {x}" for x in later)]
asked = nf.design.landmark_questions(
    more, landmarks, "k1", budget=40 * len(more), seed=7
)
seen = np.vstack([pixels[:LANDMARKS], digits.data[later]])
new_answers = nf.simulate.answers(asked, points=seen, flip=0.1, seed=8).triplets

grown = space.extend(new_answers)
rows = grown.rows[N:]
model = LogisticRegression(C=10, max_iter=2000).fit(phi, label)
print(
    f"digits never seen in training: {model.score(rows, digits.target[later]):.3f} correct"
)

# %%
# In scikit-learn's own words, for a pipeline: ``FeatureMap`` has ``fit``, ``transform`` and ``get_params``.

feature_map = nf.FeatureMap("k1", landmarks=landmarks).fit(answers)
again = feature_map.transform(new_answers)[LANDMARKS:]
print("the same rows:", np.allclose(again, rows))

fig, ax = plt.subplots(figsize=(6.4, 4.6))
pca = nf.KernelPCA(2).fit(phi)
ax.scatter(*pca.transform(phi).T, c=label, cmap="tab10", s=12, alpha=0.4)
ax.scatter(
    *pca.transform(rows).T,
    c=digits.target[later],
    cmap="tab10",
    s=40,
    marker="^",
    edgecolor="white",
    linewidth=0.5,
)
ax.set(title="dots: training; triangles: digits that came later", aspect="equal")
ax.set_axis_off()
plt.show()
