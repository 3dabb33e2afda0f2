"""
A leak, and how it is seen
==========================

An odd-one-out answer gives two triplets that say the same. Cut answers by triplet, and one of them ends up in training
and its twin in the test part: a table that only remembers looks like a good model. nearfar cuts by trio.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import KFold

import nearfar as nf

rng = np.random.default_rng(0)
noise = rng.normal(
    size=(40, 8)
)  # high-dimensional objects and blurred eyes: hardly anything to learn
answers = nf.simulate.answers(
    nf.design.trio_questions(40, 1_500), points=noise, flip=0.55
).triplets


def remembers(train, test):
    """Accuracy of a table: which pair of these three objects was called close in training?"""
    seen = {}
    for a, near, far in train.array.tolist():
        seen[frozenset((a, near, far))] = frozenset((a, near))
    known = [seen.get(frozenset(row)) for row in test.array.tolist()]
    right = [
        frozenset(row[:2]) == pair
        for row, pair in zip(test.array.tolist(), known, strict=True)
    ]
    return np.mean(
        [0.5 if pair is None else good for good, pair in zip(right, known, strict=True)]
    )


def embeds(train, test):
    """Accuracy of an embedding."""
    return np.mean(nf.fit(train, "soe-5").credits(test))


splits = {
    "by triplet (leaks)": list(
        KFold(5, shuffle=True, random_state=0).split(answers.array)
    ),
    "by trio (nearfar.kfold)": list(nf.kfold(answers, 5)),
}
fig, ax = plt.subplots()
for at, (name, parts) in enumerate(splits.items()):
    values = [
        np.mean([judge(answers[train], answers[test]) for train, test in parts])
        for judge in (remembers, embeds)
    ]
    bars = ax.bar(np.arange(2) + 0.4 * at - 0.2, values, width=0.38, label=name)
    ax.bar_label(bars, fmt="%.2f")
ax.axhline(0.5, color="#56606d", linestyle="--", linewidth=1)
ax.set_xticks(range(2), ["a table that remembers", "soe-5"])
ax.set(ylabel="accuracy on 'held-out' answers", ylim=(0, 1.12))
ax.legend()
plt.show()
