"""
What vectors are worth
======================

Somebody measured the colours of the demo: their Lab coordinates. Do these save answers? And would wrong ones do harm? A
fifth of the answers is kept, so that there is something to save.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import nearfar as nf

colours = nf.datasets.make_colours()
names, lab = np.array(colours.triplets.objects), colours.truth.points
answers = colours.triplets[::5]


def table(rows, values):
    return pl.DataFrame({"object": names[rows]}).hstack(
        pl.DataFrame(values[rows], schema=["L", "a", "b"])
    )


everything = np.arange(len(names))
wrong = np.random.default_rng(0).permutation(lab)
right, shuffled = (
    nf.analyse(answers, models=["soe-3"], features=table(everything, values))
    for values in (lab, wrong)
)
print(right.worth)
print()
print(shuffled.worth)

# %%
# Held-out answers decide whether vectors enter. The wrong ones do not, so the model is the one without them.

fig, ax = plt.subplots()
labels = ["vectors alone", "answers alone", "both"]
for shift, analysis, title, colour in (
    (-0.15, right, "right", "#2c6fbb"),
    (0.15, shuffled, "shuffled", "#b35806"),
):
    found = [analysis.worth.alone, analysis.worth.answers, analysis.worth.both]
    middle = np.array([score.accuracy for score in found])
    ends = np.array([[score.low, score.high] for score in found]).T
    ax.errorbar(
        np.arange(3) + shift,
        middle,
        np.abs(ends - middle),
        fmt="o",
        capsize=3,
        color=colour,
        label=f"{title} Lab coordinates",
    )
ax.axhline(0.5, color="#56606d", linestyle="--", linewidth=1)
ax.set_xticks(range(3), labels)
ax.set_ylabel("held-out accuracy, 95 % interval")
ax.legend(loc="lower right")
plt.show()

# %%
# Objects nobody was asked about
# ------------------------------
# No answer names the last twenty colours. Their vectors place them among the others.

asked = nf.Triplets.from_array(
    answers.array[(answers.array < 80).all(axis=1)], list(names)
)
space = nf.fit(asked, "soe-2", features=table(everything, lab))
points = space.map(2)

fig, ax = plt.subplots()
ax.scatter(*points[:80].T, c=list(colours.hex[:80]), s=90, edgecolor="#c0c6cf")
ax.scatter(*points[80:].T, c=list(colours.hex[80:]), s=90, marker="D", edgecolor="k")
ax.set(xticks=[], yticks=[], title="diamonds: nobody was asked about these colours")
plt.show()

about_new = colours.triplets[(colours.triplets.array >= 80).sum(axis=1) == 1]
print(f"answers about one new colour: {space.score(about_new):.1%} predicted")

# %%
# A colour that is in no list at all has a vector, too.

placed = space.place(
    pl.DataFrame({"object": ["mine"], "L": 60.0, "a": 60.0, "b": 50.0})
)
print(placed.objects, placed.points.round(3), placed.spread.round(3))
