"""
Choosing a dimension
====================

The fewest dimensions that no larger number clearly beats on held-out answers. These colours have three in truth, two of hue
and saturation and one of lightness; what the answers of twenty people show for certain may be fewer.
"""

import matplotlib.pyplot as plt

import nearfar as nf

answers = nf.datasets.make_colours().triplets
choice = nf.choose_dimension(answers, "soe", (1, 2, 3, 4, 6), cv=3)
print(choice)

fig, ax = plt.subplots()
scores = list(choice.comparison)
ax.errorbar(
    choice.dimensions,
    [score.accuracy for score in scores],
    yerr=[
        [score.accuracy - score.low for score in scores],
        [score.high - score.accuracy for score in scores],
    ],
    fmt="o-",
    capsize=3,
)
ax.axvline(
    int(choice),
    color="#b35806",
    linestyle="--",
    linewidth=1,
    label=f"chosen: {int(choice)}",
)
ax.set(
    xlabel="dimensions",
    ylabel="held-out accuracy, 95 % interval",
    xticks=choice.dimensions,
)
ax.legend()
plt.show()
