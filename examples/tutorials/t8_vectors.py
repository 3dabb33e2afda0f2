"""
8. Answers and vectors together
===============================

A network gives you vectors of your pictures, or a dictionary gives you vectors of your words. Three questions: how much of people's
similarity do they explain, how many answers do they save, and where do objects belong that nobody was asked about?
"""

# %%
# What you have
# -------------
# A file of answers, and a table of vectors for each source. Here the objects are 100 colours. ``lab`` holds measurements of them.
# ``letters`` counts letters in their names, which should explain nothing. The last ten colours came too late for the questions.

import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import nearfar as nf

folder = Path(tempfile.mkdtemp())
colours = nf.datasets.make_colours()
names, lab = colours.triplets.objects, colours.truth.points
asked = (colours.triplets.array < 90).all(axis=1)
nf.write_triplets(colours.triplets[np.flatnonzero(asked)[::3]], folder / "answers.csv")

objects = pl.DataFrame({"object": names})
objects.hstack(pl.DataFrame(lab, schema=["L", "a", "b"])).write_csv(folder / "lab.csv")
letters = {sign: [name.count(sign) for name in names] for sign in "aeilnor"}
objects.hstack(pl.DataFrame(letters)).write_csv(folder / "letters.csv")

# %%
# What the vectors are worth
# --------------------------
# In a terminal: ``nearfar compare answers.csv --features lab=lab.csv --features letters=letters.csv``, and ``nearfar report`` for the
# page. In Python:

answers = nf.read_triplets(folder / "answers.csv", objects=list(names))
analysis = nf.analyse(
    answers, features={"lab": folder / "lab.csv", "letters": folder / "letters.csv"}
)
print(analysis.scores)
print()
print(analysis.worth)

# %%
# How to read it. *Vectors alone*: predictions without a single answer. Beside the noise ceiling this says how much of people's similarity
# the vectors explain. *Both*: the answers correct what the vectors have wrong. The share of each source is what predicted held-out answers best;
# the letters get none.
#
# Useless vectors do no harm: held-out answers decide whether vectors enter at all.

alone = nf.analyse(answers, features={"letters": folder / "letters.csv"})
print(alone.best.name, alone.space.shares)

# %%
# Objects nobody was asked about
# ------------------------------
# The ten late colours have a position, and an uncertainty of it. How well that works is measured: whole objects are left out of
# the answers (*both, for objects left out of the answers* in the report). Here we know the answers that people would have given.

late = (colours.triplets.array >= 90).sum(axis=1) == 1
print(
    f"answers about one late colour: {analysis.space.score(colours.triplets[late]):.1%} predicted"
)

# %%
# For an object that is in no list yet, ``place`` needs its vector in every source. ``spread`` is the standard deviation of the position.

new = pl.DataFrame({"object": ["lava"]})
placed = analysis.space.place(
    {
        "lab": new.with_columns(L=45.0, a=65.0, b=55.0),
        "letters": new.with_columns(a=2, e=0, i=0, l=1, n=0, o=0, r=0),
    }
)
print(placed.objects, placed.points.round(2)[0, :3], placed.spread.round(2))

# %%
# What explains the map?
# ----------------------
# Properties are not a prior: they are predicted from the space. Give them as further columns of the table of objects
# (``--objects`` in a terminal). The space without vectors is used, as they might hold the property.

pl.DataFrame(
    {"object": names, "lightness": lab[:, 0], "letters": [len(name) for name in names]}
).write_csv(folder / "objects.csv")
print(analysis.explain(nf.read_objects(folder / "objects.csv")))
