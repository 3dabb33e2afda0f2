"""
1. From a survey export to a paper
==================================

You are a psychologist. Twenty people saw two colours beside a third and clicked the one that is more like it. Your survey
tool gave you a table. At the end of this page you have a figure, the clusters, a list of participants to check, and the
methods paragraph of your paper. You need a terminal; Python is only used for the figure in step 5.

The people here are simulated, so that this page can be built anywhere. Lines that begin with ``$`` are what you type, without
the ``$``; what follows them is what nearfar printed when the page was built. With your own file, start at *Step 1*.
"""

# %%
# The export
# ----------
# Gorilla, Qualtrics and the others name their columns as they like. This file has one row per trial: the colour in the middle
# (``anchor``), the two options, the name of the clicked one under ``Response``, and milliseconds under ``Reaction Time``. In three
# trials per person the right answer is known (attention checks): there the column ``known`` names it.

# sphinx_gallery_start_ignore
import csv
import json
import shlex
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import numpy as np

import nearfar as nf

folder = Path(tempfile.mkdtemp())
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


def show(name, lines):
    """Print the beginning of a file, and whether it goes on."""
    text = (folder / name).read_text().splitlines()
    print(*text[:lines], "...", sep="\n")


def terminal(command):
    """Run a command as a terminal would, and show the command and what it printed."""
    print(f"$ {command}")
    run = [sys.executable, "-m", *shlex.split(command.replace("\\\n", " "))]
    done = subprocess.run(run, cwd=folder, capture_output=True, text=True, check=True)
    for line in (done.stdout + done.stderr).splitlines():
        print(textwrap.fill(line, 100) if len(line) > 100 else line)


show("export.csv", 8)
# sphinx_gallery_end_ignore

# %%
# Step 1: read it, once
# ---------------------
# Say what the columns mean (:doc:`/files` has the words for six survey tools). ``check`` tells what was found and what
# was not an answer.

# sphinx_gallery_start_ignore
columns = r"""\
    --column anchor=anchor --column option=left_item --column option=right_item \
    --column "participant=Participant Private ID" --column "milliseconds=Reaction Time" \
    --column choice=Response --column check=known"""
terminal(f"nearfar check export.csv {columns}")
# sphinx_gallery_end_ignore

# %%
# The 60 attention checks were set aside and graded; all other rows are answers. ``convert`` writes nearfar's own table, so that
# you never have to describe the columns again.

# sphinx_gallery_start_ignore
terminal(f"nearfar convert export.csv answers.csv {columns}")
print()
show("answers.csv", 5)
# sphinx_gallery_end_ignore

# %%
# Step 2: is there anything in it?
# --------------------------------
# Which model predicts answers that it has not seen, and how near does it come to the best that is possible with people
# who contradict each other?

# sphinx_gallery_start_ignore
terminal("nearfar compare answers.csv --model score,tste-2,soe-3")
# sphinx_gallery_end_ignore

# %%
# All three are far above guessing, and the best possible accuracy is known because every question was put to two people. The last
# line gives the accuracy of the choice itself: it is a little below that of the winner, which is flattered by having won.
# :doc:`/honesty` says how these intervals were tested.
#
# Step 3: the report
# ------------------
# One page with everything; ``--bundle`` adds every figure as SVG and PDF and every table as CSV, ``--json`` every number. You need
# not name a model: the most accurate one is chosen, or a much simpler one that is equally accurate on held-out answers.

# sphinx_gallery_start_ignore
terminal(
    'nearfar report answers.csv --title "Thirty-four colours" -o report.html \\\n'
    "    --bundle bundle --json facts.json"
)
# sphinx_gallery_end_ignore

# %%
# Open ``report.html`` in a browser. Its results, ready to paste, say this:

# sphinx_gallery_start_ignore
facts = json.loads((folder / "facts.json").read_text())
print(textwrap.fill(facts["results"], 96))
# sphinx_gallery_end_ignore

# %%
# Step 4: people
# --------------
# The last lines that ``nearfar report`` printed name two participants to check, ``p07`` and ``p15``. They are the ones who did not
# look: we made them click at random. Only your terminal shows their names; on the page they have pseudonyms, made with a key
# that stays beside it (``report.key``), so keep that file to yourself.
#
# Nobody is left out unless you say so. Decide by the rules of your study, and report what you did: names in a file, one per
# line, go to ``nearfar report answers.csv --exclude people.txt``.
#
# Step 5: the figure
# ------------------
# The folder ``bundle/figures`` has the map, the tree and the learning curve, ready for a paper. If you would rather draw the map
# yourself, these lines do it in Python. The model is the one that the report has chosen.

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patheffects import withStroke

import nearfar as nf

answers = nf.read_triplets(folder / "answers.csv")  # the folder of your study
space = nf.fit(answers, "soe-3")
points = space.map(2)
clusters = space.clusters(5)

fig, ax = plt.subplots(figsize=(6.4, 5))
typical = points[clusters.medoids[clusters.labels]]  # of the cluster of each object
ax.plot(*np.stack([points, typical]).transpose(2, 0, 1), color="#c4cad3", zorder=0)
ax.scatter(*points.T, s=130, c=answers.objects, edgecolor="#56606d", linewidth=0.6)
for x in clusters.medoids:
    up = 1 if points[x, 1] > 0 else -1
    ax.annotate(
        answers.objects[x],
        points[x],
        xytext=(0, 17 * up),
        textcoords="offset points",
        ha="center",
        va="center",
        path_effects=[withStroke(linewidth=3, foreground="white")],
    )
ax.set_aspect("equal")
ax.set_axis_off()
plt.show()

# %%
# Only closeness means something on such a map: directions and axes do not. Which colours are in which cluster, with the most
# typical one first:

for number, medoid in enumerate(clusters.medoids):
    others = np.flatnonzero(clusters.labels == number)
    members = [answers.objects[x] for x in others if x != medoid]
    print(f"{answers.objects[medoid]}: {', '.join(members)}")

# %%
# Step 6: the methods paragraph
# -----------------------------
# It stands at the end of the report, ready to paste, with what to cite:

# sphinx_gallery_start_ignore
print(textwrap.fill(facts["methods"], 96), "\n")
for paper in facts["citations"]:
    print("-", textwrap.fill(paper, 94, subsequent_indent="  "))
# sphinx_gallery_end_ignore

# %%
# What to publish with the paper: the folder ``bundle`` has the answers, with participants under the pseudonyms of the page, and a
# notebook that runs the analysis again. The file ``report.key`` tells who is who; do not publish it.
