"""
3. Collecting answers with nearfar ask
======================================

A study is one text file and one command. This page writes the file, lets simulated people answer it, starts the
server for real ones, and looks at the answers.
"""

# %%
# The study file
# --------------

import shlex
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import matplotlib.pyplot as plt

import nearfar as nf

folder = Path(tempfile.mkdtemp())
fruit = (
    "apple pear quince plum cherry peach fig grape melon lemon lime orange mango kiwi "
)
fruit += "strawberry blueberry"
(folder / "fruit.txt").write_text("\n".join(fruit.split()))
(folder / "consent.md").write_text(
    "Taking part is voluntary. You can stop at any time by closing this page."
)
(folder / "study.toml").write_text(
    """
title = "Which fruit is more alike?"
objects = "fruit.txt"
kind = "odd"

[questions]
again = 0.1
checks = 2
each = 4
per_person = 30

[people]
aim = 24
idle_minutes = 5

[pages]
consent = "consent.md"
"""
)


def terminal(command, **options):
    """Run a command as a terminal would."""
    print(f"$ {command}\n")
    run = [sys.executable, "-m", *shlex.split(command)]
    done = subprocess.run(
        run, cwd=folder, capture_output=True, text=True, check=True, **options
    )
    print(done.stdout)


# %%
# What will it ask? A wrong key or value would be one sentence with its line.

terminal("nearfar ask check study.toml")

# %%
# A rehearsal
# -----------
# Simulated people answer the study in a database of its own, three in ten of them leave before the end. Are the questions still
# answered evenly? Are the answers enough?

terminal(
    "nearfar ask simulate study.toml --people 30 --drop-out 0.3 -o rehearsal --quiet"
)
print(*sorted(path.name for path in (folder / "rehearsal").iterdir()), sep="\n")

# %%
# The real thing
# --------------
# ``nearfar ask study.toml`` serves the study until you press Ctrl-C. It prints the address for people, the address of your live
# page, and, the first time, a password. Here it is started, asked for its first page, and stopped.

with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
serve = [sys.executable, "-m", "nearfar", "ask", "study.toml", "--port", str(port)]
server = subprocess.Popen(serve, cwd=folder, stderr=subprocess.DEVNULL)
page = ""
for _ in range(300):
    try:
        page = (
            urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5)
            .read()
            .decode()
        )
        break
    except OSError:
        time.sleep(0.1)
server.terminate()
server.wait()
print([line.strip() for line in page.splitlines() if "<title>" in line])

# %%
# This is what you see while people answer (from ``nearfar ask --demo``, in which a hundred simulated people compare colours):
#
# .. image:: /images/ask.png
#    :alt: The live page: map, learning curve, balance and people to look at
#
# Every answer is on disk before a participant reads "Saved". :doc:`/ask` has the whole list of settings, how to serve a study
# to Prolific, MTurk or SONA, and what was measured.
#
# From the database to the report
# -------------------------------
# ``nearfar report study.db`` reads the database, also while the study runs; ``nearfar ask export study.toml`` writes tables. Here,
# the tables of the rehearsal:

answers = nf.read_triplets(folder / "rehearsal" / "answers.csv")
print(answers)
scores = nf.compare(answers, ["score", "tste-2", "soe-3"], cv=3)
print(scores)

# %%
# An odd-one-out answer stays one statement of two triplets, so that no split separates the two.

points = nf.fit(answers, "tste-2").map(2)
fig, ax = plt.subplots()
ax.scatter(*points.T, s=30)
for name, point in zip(answers.objects, points, strict=True):
    ax.annotate(name, point, xytext=(4, 4), textcoords="offset points", fontsize=9)
ax.set(xticks=[], yticks=[], title="simulated people: the map says nothing about fruit")
plt.show()
