"""
3. Collecting answers with nearfar ask
======================================

A study is one text file and one command. This page shows the file, lets simulated people answer it, starts the
server for real ones, and looks at the answers. Lines that begin with ``$`` are what you type, without the ``$``.
"""

# %%
# The study file
# --------------
# A folder with a list of objects (or their pictures), the text of your consent form, and ``study.toml``:

# sphinx_gallery_start_ignore
import shlex
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

folder = Path(tempfile.mkdtemp())
fruit = (
    "apple pear quince plum cherry peach fig grape melon lemon lime orange mango kiwi"
)
fruit += " strawberry blueberry"
(folder / "fruit.txt").write_text("\n".join(fruit.split()))
(folder / "consent.md").write_text(
    "Taking part is voluntary. You can stop at any time by closing this page."
)
(folder / "study.toml").write_text("""\
title = "Which fruit is more similar?"
objects = "fruit.txt"
kind = "odd"            # which of three is the odd one out?

[questions]
again = 0.1             # a tenth of a person's questions come again
checks = 2              # attention checks per person
each = 4                # answers wanted per question
per_person = 30

[people]
aim = 24
idle_minutes = 5

[pages]
consent = "consent.md"
""")


def terminal(command):
    """Run a command as a terminal would, and show the command and what it printed."""
    print(f"$ {command}")
    run = [sys.executable, "-m", *shlex.split(command)]
    done = subprocess.run(run, cwd=folder, capture_output=True, text=True, check=True)
    print(done.stdout)


print((folder / "study.toml").read_text())
# sphinx_gallery_end_ignore

# %%
# What will it ask? A wrong key or value would be one sentence with its line.

# sphinx_gallery_start_ignore
terminal("nearfar ask check study.toml")
# sphinx_gallery_end_ignore

# %%
# A rehearsal
# -----------
# Simulated people answer the study in a database of its own, three in ten of them leave before the end. Are the questions still
# answered evenly? Are the answers enough?

# sphinx_gallery_start_ignore
terminal(
    "nearfar ask simulate study.toml --people 30 --drop-out 0.3 -o rehearsal --quiet"
)
# sphinx_gallery_end_ignore

# %%
# The folder ``rehearsal`` has the same tables as a real study: ``answers.csv``, ``checks.csv``, ``people.csv`` and ``objects.csv``.
#
# The real thing
# --------------
# ``nearfar ask study.toml`` serves the study until you press Ctrl-C. It prints the address for people, the address of your live
# page, and, the first time, a password. When this page was built it was started, asked for its first page, and stopped; the page
# that people open had this title:

# sphinx_gallery_start_ignore
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
serve = [sys.executable, "-m", "nearfar", "ask", "study.toml", "--port", str(port)]
server = subprocess.Popen(serve, cwd=folder, stderr=subprocess.DEVNULL)
page = ""
for _ in range(300):
    try:
        address = f"http://127.0.0.1:{port}/"
        page = urllib.request.urlopen(address, timeout=5).read().decode()
        break
    except OSError:
        time.sleep(0.1)
server.terminate()
server.wait()
print(page.partition("<title>")[2].partition("</title>")[0])
# sphinx_gallery_end_ignore

# %%
# This is what you see while people answer (from ``nearfar ask --demo``, in which a hundred simulated people compare colours):
#
# .. image:: /images/ask.png
#    :alt: The live page: map, learning curve, balance and participants to check
#
# Every answer is on disk before a participant reads "Saved". :doc:`/ask` has the whole list of settings, how to serve a study
# to Prolific, MTurk or SONA, and what was measured.
#
# From the database to the report
# -------------------------------
# ``nearfar report study.db`` reads the database, also while the study runs; ``nearfar ask export study.toml`` writes tables. Here,
# the answers of the rehearsal, in Python:

import matplotlib.pyplot as plt

import nearfar as nf

answers = nf.read_triplets(folder / "rehearsal" / "answers.csv")
print(answers)
scores = nf.compare(answers, ["score", "tste-2", "soe-3"], cv=3)
print(scores)

# %%
# An odd-one-out answer stays one statement of two triplets, so that no split separates the two.

points = nf.fit(answers, "tste-2").map(2)
fig, ax = plt.subplots(figsize=(6.4, 3.8))
ax.scatter(*points.T, s=30)
for rank, x in enumerate(points[:, 1].argsort()):  # names to the right and left in turn
    place, side = ((-6, 0), "right") if rank % 2 else ((6, 0), "left")
    ax.annotate(
        answers.objects[x],
        points[x],
        xytext=place,
        textcoords="offset points",
        ha=side,
        va="center",
        fontsize=9,
    )
ax.set(title="simulated people: the map says nothing about fruit", aspect="equal")
ax.margins(0.1)
ax.set_axis_off()
plt.show()
