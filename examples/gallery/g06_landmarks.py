"""
Landmarks
=========

k1 and k2 compare two objects through questions that both got. Random questions hardly ever coincide; questions about a
few landmarks always do. The same number of answers, asked both ways.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import nearfar as nf

warnings.simplefilter(
    "ignore", nf.errors.CoverageWarning
)  # random questions are expected to be too few
N = 300
pixels = load_digits().data[:N]
names = [f"digit {x}" for x in range(N)]
landmarks = nf.design.random_landmarks(names, 12)
test = nf.simulate.answers(
    nf.design.random_questions(names, 5_000, seed=99), points=pixels
).triplets

budgets = [3_000, 6_000, 12_000, 19_000]
curves = {
    "k1, landmark questions": [],
    "k1, random questions": [],
    "score, random questions": [],
}
for budget in budgets:
    asked = {
        "landmark": nf.design.landmark_questions(names, landmarks, "k1", budget=budget),
        "random": nf.design.random_questions(names, budget),
    }
    for curve, accuracies in curves.items():
        kernel, kind = curve.replace(",", "").split()[:2]
        answers = nf.simulate.answers(asked[kind], points=pixels).triplets
        space = nf.fit(answers, f"{kernel}-5")
        accuracies.append(np.mean(space.credits(test)))

fig, ax = plt.subplots()
for curve, accuracies in curves.items():
    ax.plot(budgets, accuracies, "o-", label=curve)
ax.axhline(0.5, color="#56606d", linewidth=1, linestyle="--")
ax.set_xlabel("answers about 300 digits")
ax.set_ylabel("new answers predicted (kernel PCA, 5-d)")
ax.legend()
plt.show()
