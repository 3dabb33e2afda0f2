"""
2. Planning a study
===================

How many questions, of whom, and what do repeats buy? nearfar answers by simulating your study before you pay for it. The
assumptions are printed with every answer, because all of it rests on them; a pilot of a few hundred answers is better.
"""

# %%
# How many questions
# ------------------
# Twenty-four objects. ``advise`` simulates studies of growing size until twice as many questions would add less than one
# point of accuracy.

import matplotlib.pyplot as plt
import numpy as np

import nearfar as nf

names = [f"object {x}" for x in range(24)]
advice = nf.advise(names)
print(advice)

# %%
# In a terminal that is ``nearfar plan objects.txt``. Every assumption has an option: ``--dimension``, ``--agreement``,
# ``--seconds``, ``--minutes``, ``--pay``.
#
# Which kind of question
# ----------------------
# An odd-one-out takes a little longer than "which of two is nearer", and says two things at once. Costs are compared at the
# same accuracy on new "near" questions, whatever was asked.

kinds = {
    "near": nf.design.Scheme(),
    "odd": nf.design.Scheme("odd"),
    "grid": nf.design.Scheme("grid"),
}
titles = {
    "near": "which of two is nearer",
    "odd": "odd one out of three",
    "grid": "pick 2 of 8",
}
fig, ax = plt.subplots()
for kind, scheme in kinds.items():
    advised = advice if kind == "near" else nf.advise(names, scheme)
    ax.plot(
        [row.hours for row in advised.rows],
        [row.accuracy for row in advised.rows],
        "o-",
        label=titles[kind],
    )
ax.axhline(
    advice.ceiling, color="#56606d", linestyle="--", linewidth=1, label="best possible"
)
ax.set(
    xscale="log",
    xlabel="hours that all people together spend",
    ylabel="new answers predicted",
)
ax.set_xticks([0.05, 0.1, 0.2, 0.5, 1, 2, 3], [0.05, 0.1, 0.2, 0.5, 1, 2, 3])
ax.minorticks_off()
ax.legend()
plt.show()

# %%
# Of whom
# -------
# The number of answers decides the accuracy of the map; the number of *people* decides how far the result can be trusted
# to hold for others, because intervals are clustered by person. Below five people no interval is given at all.
#
# What repeats buy
# ----------------
# Questions that are asked again do not improve the map. They tell how good any model could be, so that 0.78 can be called
# good or poor. How wide is the range of the best possible accuracy, when a growing share of 1,500 answers are repeats?

rng = np.random.default_rng(0)
points = rng.normal(size=(24, 3))
shares, lows, highs = [0.1, 0.2, 0.3, 0.5], [], []
for share in shares:
    new = nf.design.random_questions(names, round(1_500 * (1 - share)))
    again = new[: 1_500 - len(new)]  # the same questions, of somebody else
    both = nf.design.Questions(np.vstack([new.array, again.array]), new.objects)
    asked = nf.design.booklets(both, people=30)
    answers = nf.simulate.answers(asked, points=points, noise=0.4, seed=2).triplets
    best = nf.noise_ceiling(answers).best_possible
    lows.append(np.nan if best is None else best.low)
    highs.append(np.nan if best is None else best.high)

fig, ax = plt.subplots()
ax.fill_between(shares, lows, highs, alpha=0.25, linewidth=0)
ax.plot(shares, lows, "o-", shares, highs, "o-", color="#2457a6")
ax.set(
    xlabel="share of repeated questions",
    ylabel="best possible accuracy, 95 %",
    ylim=(0.5, 1),
)
plt.show()

# %%
# More repeats make the range narrower, and the map a little worse, because fewer questions are new. With too few repeats the
# ceiling is "unknown", and nearfar says what to ask next. A tenth of each person's questions asked
# again, and a few hundred questions put to several people, is a good start.
#
# Lists for people
# ----------------
# Everybody gets equally many questions, every question is asked equally often, sides are even, and nobody sees the same
# three objects twice except as a planned repeat.

questions = nf.design.random_questions(names, 900)
lists = nf.design.booklets(questions, people=30, each=2, again=0.1, checks=2)
print(lists)
per_person = np.bincount(lists.participant)[1:]
print("questions per person:", per_person.min(), "to", per_person.max())

# %%
# In a terminal: ``nearfar plan objects.txt --budget 900 --people 30 --each 2 --again 0.1 --checks 2 -o lists.csv``; the file
# can be served by :doc:`nearfar ask </ask>` or any survey tool, and read back with the answers in a column ``choice``.
#
# Is a fixed budget enough?
# -------------------------

print(nf.advise(names, budget=700))
