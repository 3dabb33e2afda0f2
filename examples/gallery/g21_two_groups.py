"""
Two groups of people
====================

Twelve people see colour as it is; twelve do not tell red from green. Two maps, each turned onto that of everybody, and
the objects that move.
"""

import matplotlib.pyplot as plt
import numpy as np

import nearfar as nf

colours = nf.datasets.make_colours()
chosen = np.arange(0, 100, 4)
names = [colours.triplets.objects[x] for x in chosen]
lab = colours.truth.points[chosen]
lists = nf.design.booklets(nf.design.random_questions(names, 1_200), people=24, each=4)
seen = [
    nf.simulate.answers(lists, points=lab * scale, noise=0.15, seed=1).triplets
    for scale in ([1, 1, 1], [1, 0.15, 1])
]
person = seen[0].participant.names[seen[0].participant.codes].astype(int)
rows = np.where((person > 12)[:, None], seen[1].array, seen[0].array)
answers = nf.Triplets.from_array(rows, names, participant=person)

comparison = nf.compare_groups(
    answers,
    {p: "usual" if p <= 12 else "red-green blind" for p in range(1, 25)},
    n_resamples=60,
)
pair = comparison.pairs[0]
print(pair)

fig, ax = plt.subplots(figsize=(6.4, 4.2))
paint = [colours.hex[x] for x in chosen]
for (x, y), (u, v), colour in zip(*pair.maps, paint, strict=True):
    ax.annotate(
        "",
        (u, v),
        (x, y),
        arrowprops={"arrowstyle": "->", "color": "#8d97a5", "lw": 0.8},
    )
    ax.scatter(x, y, color=colour, s=60, edgecolor="#56606d", linewidth=0.4)
ax.set(aspect="equal", title=f"from {pair.names[0]} to {pair.names[1]}")
ax.set_axis_off()
plt.show()
