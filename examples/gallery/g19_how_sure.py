"""
How sure is the map?
====================

Had other people answered, where would each colour lie? A bootstrap draws participants with replacement, fits
the map again and turns it onto the first one.
"""

import matplotlib.pyplot as plt
from matplotlib.patches import Ellipse

import nearfar as nf

colours = nf.datasets.make_colours()
analysis = nf.analyse(colours.triplets, "tste-2", models=["tste-2"], n_resamples=15)
sure = analysis.stability(n_clusters=None)

fig, ax = plt.subplots(figsize=(6.4, 3.8))
ax.scatter(
    *sure.points.T, c=colours.hex, s=30, edgecolor="#56606d", linewidth=0.3, zorder=3
)
spread = sure.positions.std(axis=0)
for point, width, colour in zip(sure.points, spread, colours.hex, strict=True):
    ax.add_patch(Ellipse(point, *(4 * width), color=colour, alpha=0.2, linewidth=0))
ax.set(aspect="equal", title="two standard deviations of every position")
ax.set_axis_off()
plt.show()

print("most certain:", colours.triplets.objects[sure.spread.argmin()])
print("least certain:", colours.triplets.objects[sure.spread.argmax()])
