"""
Where k1 is fooled
==================

The paper's own counter-example (section 2.2): a dense chain of objects and two far ones. From complete and correct
answers k1 calls the two far objects alike and the two ends of the chain opposite, and the more so the longer the chain.
"""

import matplotlib.pyplot as plt
import numpy as np

import nearfar as nf


def distances(n):
    """Two far points, then a chain of length 1: d(x1,x2) > d(x2,xn) > d(x1,xn) > d(x2,x3) > d(x1,x3) > 1."""
    chain = np.linspace(0, 1, n - 2)
    d = np.abs(chain[:, None] - chain)
    first, second = 1.2 + 0.3 * chain, 1.3 + 0.5 * chain
    top = np.array([[0.0, 3.0], [3.0, 0.0]])
    return np.block(
        [[top, np.vstack([first, second])], [np.vstack([first, second]).T, d]]
    )


sizes = [6, 10, 20, 40, 60]
far, ends = [], []
for n in sizes:
    every = nf.design.random_questions(n, n * (n - 1) * (n - 2) // 2)  # all of them
    answers = nf.simulate.answers(every, distances=distances(n)).triplets
    K = nf.kernel_matrix(answers, "k1", diagonal="keep")
    far.append(K[0, 1])
    ends.append(K[2, -1])

fig, ax = plt.subplots()
ax.plot(sizes, far, "o-", label="the two far objects, as far apart as any")
ax.plot(sizes, ends, "o-", label="the ends of the chain, nearer than they are")
ax.axhline(0, color="#56606d", linewidth=1)
ax.set(xlabel="objects", ylabel="k1", ylim=(-1.05, 1.05))
ax.legend(loc="center right")
plt.show()
