"""
A tree
======

Complete linkage on the distances in a space, in SciPy's format, so that SciPy draws and cuts it.
"""

import matplotlib.pyplot as plt
from scipy.cluster.hierarchy import dendrogram

import nearfar as nf

colours = nf.datasets.make_colours()
shown = slice(0, 100, 3)
space = nf.fit(colours.triplets, "soe-3").take(range(100)[shown])
tree = space.tree()

fig, ax = plt.subplots(figsize=(6.4, 6.4))
drawn = dendrogram(
    tree,
    labels=space.objects,
    orientation="left",
    color_threshold=0,
    above_threshold_color="#56606d",
    ax=ax,
)
paint = dict(zip(colours.triplets.objects, colours.hex, strict=True))
for label in ax.get_yticklabels():
    label.set_fontsize(7)
for place, name in enumerate(drawn["ivl"]):
    ax.scatter(
        0,
        5 + 10 * place,
        color=paint[name],
        s=45,
        edgecolor="#56606d",
        linewidth=0.4,
        zorder=3,
        clip_on=False,
    )
ax.set_xlabel("distance in the space")
ax.spines["left"].set_visible(False)
ax.tick_params(axis="y", pad=8)
plt.show()
