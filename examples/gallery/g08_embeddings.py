"""
Embeddings side by side
=======================

Five ordinal embeddings of the same 10,000 answers about a hundred colours, in two dimensions, and how many held-out
answers each of them predicts.
"""

import matplotlib.pyplot as plt

import nearfar as nf

colours = nf.datasets.make_colours()
names = ["gnmds-2", "ckl-2", "ste-2", "tste-2", "soe-2"]
scores = nf.compare(colours.triplets, names, cv=3)

maps = {
    f"{name}: {scores[name].accuracy:.1%}": nf.fit(colours.triplets, name).map(2)
    for name in names
}
maps["in truth: two of three axes"] = colours.truth.points[:, 1:]

fig, axes = plt.subplots(2, 3, figsize=(7.2, 5))
for ax, (title, points) in zip(axes.flat, maps.items(), strict=True):
    ax.scatter(*points.T, c=colours.hex, s=34, edgecolor="#56606d", linewidth=0.3)
    ax.set_title(title)
    ax.set_aspect("equal", "datalim")
    ax.set_axis_off()
plt.show()

print(scores)
