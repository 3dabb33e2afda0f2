"""
1. From a survey export to a paper
==================================

You are a psychologist. Twenty people saw two colours beside a third and clicked the one that is more like it. Your survey
tool gave you a table. At the end of this page you have a figure, the clusters, a list of people to look at, and the
methods paragraph of your paper.

The people here are simulated, so that the page can be built anywhere (the script at the foot of the page has the code); with
your own file, start at *Step 1*.
"""

# %%
# The export
# ----------
# Gorilla, Qualtrics and the others name their columns as they like. This file has one row per trial, the name of the
# clicked colour under ``Response``, milliseconds under ``Reaction Time``, and three trials per person whose right answer
# is known (an attention check).

import csv
import json
import shlex
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import nearfar as nf

folder = Path(tempfile.mkdtemp())
# sphinx_gallery_start_ignore
colours = nf.datasets.make_colours()
chosen = np.arange(0, 100, 3)
names = [colours.triplets.objects[x] for x in chosen]

questions = nf.design.random_questions(names, 1_000)
lists = nf.design.booklets(questions, people=20, each=2, again=0.1, checks=3)
clicks = nf.simulate.answers(
    lists, points=colours.truth.points[chosen], noise=0.35, seed=1
).choice
rng = np.random.default_rng(0)
clicks = np.where(
    np.isin(lists.participant, [7, 15]), rng.integers(2, size=len(clicks)), clicks
)  # two do not look

with open(folder / "export.csv", "w", newline="") as file:
    table = csv.writer(file)
    header = "Participant Private ID,anchor,left_item,right_item,Response,Reaction Time,known"
    table.writerow(header.split(","))
    asked = lists.questions
    for row in range(len(lists)):
        anchor, left, right = (names[x] for x in asked.array[row])
        clicked = (left, right)[clicks[row]]
        known = anchor if lists.role[row] == 2 else ""
        milliseconds = round(1000 * rng.lognormal(0.6, 0.4))
        who = f"p{lists.participant[row]:02d}"
        table.writerow([who, anchor, left, right, clicked, milliseconds, known])
# sphinx_gallery_end_ignore
print((folder / "export.csv").read_text()[:420])


# %%
# From here on everything is typed into a terminal. This function runs a command in the folder of the study and shows what it
# prints:


def terminal(command):
    """Run a command as a terminal would."""
    print(textwrap.fill(f"$ {command}", 88, break_on_hyphens=False), "\n")
    run = [sys.executable, "-m", *shlex.split(command)]
    print(
        subprocess.run(
            run, cwd=folder, capture_output=True, text=True, check=True
        ).stdout
    )


# %%
# Step 1: read it, once
# ---------------------
# Say what the columns mean (:doc:`/files` has the words for six survey tools). ``check`` tells what was found and what
# was not an answer; ``convert`` writes nearfar's own table, so that you never have to say it again.

columns = (
    "--column anchor=anchor --column option=left_item --column option=right_item "
    "--column choice=Response --column 'participant=Participant Private ID' "
    "--column 'milliseconds=Reaction Time' --column check=known"
)
terminal(f"nearfar check export.csv {columns} --quiet")

# %%
# The attention checks were set aside and graded, all other rows are answers.

terminal(f"nearfar convert export.csv answers.csv {columns} --quiet")
print((folder / "answers.csv").read_text()[:300])

# %%
# Step 2: is there anything in it?
# --------------------------------
# Which model predicts answers that it has not seen, and how near does it come to the best that is possible with people
# who contradict each other?

terminal("nearfar compare answers.csv --model score,tste-2,soe-3 --quiet")

# %%
# Above guessing, and the best possible is known because every question was put to two people. The last line gives the accuracy of
# the choice itself: it is a little below that of the winner, which is flattered by having won. :doc:`/honesty` says how these
# intervals were tested.
#
# Step 3: the report
# ------------------
# One page with everything, every figure as SVG and PDF, and every number as JSON. The model that predicts held-out answers
# best is chosen by itself.

terminal(
    "nearfar report answers.csv --title 'Thirty-four colours' -o report.html "
    "--bundle bundle --json facts.json --quiet"
)
print(*sorted(path.name for path in (folder / "bundle").iterdir()), sep="\n")

# %%
# The page begins with a verdict. Here it is, from the JSON:

facts = json.loads((folder / "facts.json").read_text())
for verdict in facts["verdict"]:
    print(textwrap.fill(f"{verdict['topic']}: {verdict['text']}", 88), "\n")

# %%
# Step 4: people
# --------------
# Whom does the page ask you to look at? The names on the page are pseudonyms, made with a key that stays beside the page
# (``report.key``); keep it to yourself. Without ``--quiet`` the terminal also says who is who.

for person in facts["quality"]["participants"]:
    if person["reasons"]:
        told = f"{person['name']}: {'; '.join(person['reasons'])}"
        print(textwrap.fill(told, 88))

# %%
# They are persons 7 and 15, the ones who did not look. Decide yourself what to do about them, and say so in the paper: a file
# with their names goes to ``nearfar report answers.csv --exclude people.txt``.
#
# Step 5: the figure
# ------------------

answers = nf.read_triplets(folder / "answers.csv")
space = nf.fit(answers, "soe-3")
points = space.map(2)
clusters = space.clusters(5)

fig, ax = plt.subplots(figsize=(6.4, 5))
ax.scatter(
    *points.T,
    c=[colours.hex[x] for x in chosen],
    s=160,
    edgecolor="#56606d",
    linewidth=0.6,
)
for x in clusters.medoids:
    ax.annotate(
        names[x],
        points[x],
        xytext=(0, 11),
        textcoords="offset points",
        ha="center",
        fontsize=9,
    )
ax.set(xticks=[], yticks=[], aspect="equal")
plt.show()

# %%
# Step 6: the methods paragraph
# -----------------------------
# Ready to paste, with what to cite.

print(textwrap.fill(facts["methods"], 88), "\n")
for paper in facts["citations"]:
    print("-", textwrap.fill(paper, 86, subsequent_indent="  "))
