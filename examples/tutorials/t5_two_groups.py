"""
5. Two groups of people
=======================

Do experts see the objects differently from novices, or is one group only more careless than the other? These are different
questions. This page simulates both cases, asks nearfar, and looks for groups that nobody has named.
"""

# %%
# Two groups
# ----------
# Thirty-two people compare twenty colours. Sixteen do not tell red from green.

import matplotlib.pyplot as plt
import numpy as np

import nearfar as nf

colours = nf.datasets.make_colours()
chosen = np.arange(0, 100, 5)
names = [colours.triplets.objects[x] for x in chosen]
lab = colours.truth.points[chosen]
lists = nf.design.booklets(nf.design.random_questions(names, 1_600), people=32, each=4)


def ask(second, noise=(0.2, 0.2)):
    """Answers of 32 people; persons 17 to 32 see the colours as ``second``."""
    seen = [
        nf.simulate.answers(lists, points=place, noise=blur, seed=3).triplets
        for place, blur in zip((lab, second), noise, strict=True)
    ]
    person = lists.participant
    return nf.Triplets.from_array(
        np.where((person > 16)[:, None], seen[1].array, seen[0].array),
        names,
        participant=person,
    )


groups = {p: "usual" if p <= 16 else "red-green blind" for p in range(1, 33)}
answers = ask(lab * [1, 0.1, 1])
comparison = nf.compare_groups(answers, groups, n_resamples=20)
print(comparison)

# %%
# How to read it. *Agreement*: two people of one group agree more often than two of different groups. *The test* deals people to
# groups at random, 999 times: how often do they differ as much? *The models*: the answers of a group are predicted better
# by its own map. *Objects that move* lie elsewhere on the two maps.
#
# In a terminal, with a file that has the columns ``participant`` and ``group``: ``nearfar compare answers.csv --groups
# groups.csv``, and ``nearfar report answers.csv --groups groups.csv`` for the page.

pair = comparison.pairs[0]
fig, axes = plt.subplots(1, 2, figsize=(7.2, 3.2), sharex=True, sharey=True)
for ax, points, name in zip(axes, pair.maps, pair.names, strict=True):
    ax.scatter(
        *points.T,
        c=[colours.hex[x] for x in chosen],
        s=90,
        edgecolor="#56606d",
        linewidth=0.5,
    )
    ax.set(title=name, aspect="equal")
    ax.set_axis_off()
plt.show()

# %%
# More noise is not another view
# ------------------------------
# Now both groups see the same, but the second one is careless. Its agreement is lower, and the test does not call it
# different.

care = {p: "careful" if p <= 16 else "careless" for p in range(1, 33)}
print(nf.compare_groups(ask(lab, noise=(0.2, 0.6)), care, n_resamples=5))

# %%
# Groups that nobody has named
# ----------------------------
# ``find_subgroups`` asks whether two maps predict held-out answers better than one, and who belongs to which.

subgroups = nf.find_subgroups(answers)
print(subgroups)

found_in = np.array(
    [subgroups.group[list(subgroups.people).index(str(p))] for p in range(1, 33)]
)
truth = np.arange(1, 33) > 16
print(
    "people sorted as they are in truth:",
    max(np.mean(found_in == truth), np.mean(found_in != truth)),
)

# %%
# And every person beside every other: how often did they give the same answer to the questions that they share? The red lines
# part the two groups; white means too few shared questions. Within a group (top left, bottom right) people agree more often.

alike = nf.person_agreement(answers)
print(f"{alike.known:.0%} of all pairs of people share enough questions to be compared")

fig, ax = plt.subplots(figsize=(4.6, 4))
order = np.argsort([int(name) for name in alike.people])
edges = (0.5, 32.5, 32.5, 0.5)  # people are numbered from 1
shown = ax.imshow(alike.share[np.ix_(order, order)], cmap="viridis", extent=edges)
fig.colorbar(shown, label="same answer")
ax.axhline(16.5, color="#a8322a")
ax.axvline(16.5, color="#a8322a")
ax.set(xlabel="person", ylabel="person", title="how often two people agree")
ax.set(xticks=[1, 8, 16, 24, 32], yticks=[1, 8, 16, 24, 32])
plt.show()
