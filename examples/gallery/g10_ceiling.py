"""
The ceiling
===========

People contradict each other, so no model reaches 100 %. Questions that were asked more than once say how far one can
get; the shaded interval holds that limit with 95 % certainty.
"""

import matplotlib.pyplot as plt

import nearfar as nf

answers = nf.datasets.make_colours().triplets
scores = nf.compare(answers, ["k1", "score", "tste-2", "soe-3"], cv=3)
print(scores.ceiling)

fig, ax = plt.subplots()
ranked = sorted(scores, key=lambda score: score.accuracy)
for place, score in enumerate(ranked):
    ax.plot([score.low, score.high], [place, place], color="#2457a6")
    ax.plot(score.accuracy, place, "o", color="#2457a6")
best = scores.ceiling.best_possible
ax.axvspan(
    best.low,
    best.high,
    color="#b35806",
    alpha=0.25,
    linewidth=0,
    label="best possible",
)
ax.axvline(0.5, color="#56606d", linestyle="--", linewidth=1, label="guessing")
ax.set_yticks(range(len(ranked)), [score.name for score in ranked])
ax.set_xlabel("held-out accuracy, 95 % interval")
ax.set_ylim(-0.5, len(ranked) - 0.5)
ax.legend(loc="upper left", bbox_to_anchor=(0.02, 0.98))
plt.show()
