import matplotlib.pyplot as plt
import numpy as np

points = np.array([[0, 0], [0.6, 0.35], [-0.6, 1.0], [1.9, -0.4], [-1.5, -0.3], [0.5, -1.3], [2.3, 1.2]])
a, b = 0, 1
others = [x for x in range(7) if x not in (a, b)]
letters = "abcdefg"

fig, (plane, ranks) = plt.subplots(1, 2, figsize=(7.4, 3.4), width_ratios=[1.15, 1])
plane.scatter(*points[others].T, s=50, color="#8d97a5")
for x, colour in ((a, "#2457a6"), (b, "#b35806")):
    plane.scatter(*points[x], s=90, color=colour, zorder=3)
for x in range(7):
    plane.annotate(letters[x], points[x], xytext=(6, 5), textcoords="offset points", fontsize=11)
plane.set(aspect="equal", title="seven objects")
plane.set_axis_off()

order = {x: sorted(others, key=lambda y: np.linalg.norm(points[x] - points[y])) for x in (a, b)}
for y in others:
    heights = [-order[x].index(y) for x in (a, b)]
    ranks.plot([0, 1], heights, "o-", color="#56606d", linewidth=1.2)
    ranks.annotate(letters[y], (-0.08, heights[0]), ha="right", va="center", fontsize=11)
    ranks.annotate(letters[y], (1.08, heights[1]), ha="left", va="center", fontsize=11)
agree = [
    np.sign(order[a].index(x) - order[a].index(y)) * np.sign(order[b].index(x) - order[b].index(y))
    for x in others
    for y in others
    if x < y
]
ranks.set(xlim=(-0.6, 1.6), ylim=(-4.8, 0.9), xticks=[0, 1], yticks=[-4, 0])
ranks.set_xticklabels(["as seen from a", "as seen from b"])
ranks.set_yticklabels(["far", "near"])
crossed = sum(value < 0 for value in agree)
ranks.set_title(f"{len(agree) - crossed} pairs alike, {crossed} crossed: tau = {np.mean(agree):.1f}")
ranks.spines[:].set_visible(False)
plt.show()
