import matplotlib.pyplot as plt
import numpy as np

points = np.array([[0, 0], [0.6, 0.35], [-0.6, 1.0], [1.9, -0.4], [-1.5, -0.3], [0.5, -1.3], [2.3, 1.2]])
a, b = 0, 1
letters = "abcdefg"
fig, axes = plt.subplots(1, 3, figsize=(7.4, 2.5), sharex=True, sharey=True)
for ax, i in zip(axes, (2, 3, 5), strict=True):
    apart = np.linalg.norm(points - points[i], axis=1)
    same = total = 0
    for j in range(7):
        if j in (i, a, b):
            continue
        total += 1
        alike = (apart[a] < apart[j]) == (apart[b] < apart[j])
        same += alike if alike else -1
        ax.add_patch(
            plt.Circle(
                points[i], apart[j], fill=False, color="#1a7457" if alike else "#a8322a", lw=0.9, alpha=0.7
            )
        )
    ax.scatter(*points.T, s=30, color="#8d97a5")
    for x, colour in ((a, "#2457a6"), (b, "#b35806"), (i, "black")):
        ax.scatter(*points[x], s=80, color=colour, zorder=3)
    for x in range(7):
        ax.annotate(letters[x], points[x], xytext=(5, 4), textcoords="offset points")
    ax.set_axis_off()
    ax.set(aspect="equal", xlim=(-2.4, 3.2), ylim=(-2.3, 2.2))
    ax.set_title(f"as seen from {letters[i]}: {same:+d} of {total}")
plt.show()
