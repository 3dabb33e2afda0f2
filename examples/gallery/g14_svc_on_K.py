"""
A support vector machine on K
=============================

Objects without coordinates, classified: K goes to any kernel method of scikit-learn. Cross-validated over objects, for
four kernels and growing numbers of answers.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

import nearfar as nf

warnings.simplefilter("ignore", nf.errors.CoverageWarning)
N = 200
digits = load_digits(n_class=4)
pixels, label = digits.data[:N], digits.target[:N]

budgets = [2_000, 6_000, 20_000, 60_000]
fig, ax = plt.subplots()
for kernel in ("score", "k1", "k2", "k1+k2"):
    values = []
    for budget in budgets:
        answers = nf.simulate.answers(
            nf.design.random_questions(N, budget), points=pixels, flip=0.1
        ).triplets
        K = nf.kernel_matrix(answers, kernel)
        values.append(
            cross_val_score(SVC(kernel="precomputed", C=10), K, label, cv=5).mean()
        )
    ax.plot(budgets, values, "o-", label=kernel)
ax.axhline(
    np.bincount(label).max() / N,
    color="#56606d",
    linestyle="--",
    linewidth=1,
    label="most frequent class",
)
ax.set(
    xscale="log",
    xlabel="answers about 200 digits, 10 % of them wrong",
    ylabel="accuracy over objects",
)
ax.set_xticks(budgets, [f"{x:,}" for x in budgets])
ax.minorticks_off()
ax.legend(loc="lower right", bbox_to_anchor=(1, 0.08))
plt.show()
