"""
The paper's figure 1
====================

Seven points, and how much two of them agree. k1's idea: do x1 and x2 rank all the others alike? k2's idea: are they
ranked alike by all the others? The six numbers are those printed in the paper.
"""

import matplotlib.pyplot as plt
import numpy as np

points = np.array(
    [[-28, 27], [2, -3], [-7, 14], [-41, -37], [44, 5], [34, -18], [7, -74]]
)
distances = np.linalg.norm(points[:, None] - points[None], axis=2)
i, j = np.triu_indices(7, 1)


def tau(a, b):
    """Kendall's tau between the rankings of all seven as seen from a and from b."""
    return float(
        np.mean(
            np.sign(distances[a, i] - distances[a, j])
            * np.sign(distances[b, i] - distances[b, j])
        )
    )


def ranked_alike(a, b):
    """Whether a and b are nearer or farther than each j, as seen from each i: agreement over all ordered pairs."""
    seen = [np.sign(distances - distances[:, [x]]) for x in (a, b)]
    return float(np.mean(seen[0] * seen[1]))


fig, ax = plt.subplots(figsize=(6.4, 4.6))
ax.scatter(*points.T, s=60, zorder=3)
for number, point in enumerate(points, 1):
    ax.annotate(f"x{number}", point, xytext=(7, 5), textcoords="offset points")
for a, b, place, side, colour in (
    (0, 1, (-1, 5), "left", "#1a7457"),
    (0, 6, (-13, -24), "right", "#a8322a"),
    (1, 6, (7, -38), "left", "#b35806"),
):
    ax.plot(*points[[a, b]].T, color=colour, linewidth=1.2)
    words = f"{tau(a, b) * 21:+.0f}/21 and {ranked_alike(a, b) * 49:+.0f}/49"
    ax.text(*place, words, color=colour, fontsize=9, ha=side, va="center")
ax.set(aspect="equal", title="agreement as for k1, and as for k2")
ax.set_axis_off()
plt.show()

for a, b in ((0, 1), (0, 6), (1, 6)):
    print(
        f"x{a + 1} and x{b + 1}:  tau = {tau(a, b):+.3f}   k2's idea = {ranked_alike(a, b):+.3f}"
    )
