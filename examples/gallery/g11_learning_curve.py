"""
The learning curve
==================

Would more answers help? Accuracy on the same held-out answers, fitted to growing parts of the others.
"""

import matplotlib.pyplot as plt

import nearfar as nf

answers = nf.datasets.make_colours().triplets
curve = nf.learning_curve(answers, "soe-3")
print(curve)

fig, ax = plt.subplots()
points = curve.to_frame()
ax.plot(points["answers"], points["accuracy"], "o-")
ax.fill_between(
    points["answers"], points["low"], points["high"], alpha=0.2, linewidth=0
)
best = nf.noise_ceiling(answers).best_possible
ax.axhspan(
    best.low,
    best.high,
    color="#b35806",
    alpha=0.25,
    linewidth=0,
    label="best possible",
)
ax.set(
    xscale="log",
    xlabel="answers to learn from",
    ylabel="held-out accuracy, 95 % interval",
)
ax.set_xticks(
    [1_000, 2_000, 4_000, 8_000],
    [f"{x:,}" for x in [1_000, 2_000, 4_000, 8_000]],
)
ax.minorticks_off()
ax.legend(loc="lower right")
plt.show()

# %%
# Twice as many answers are expected to bring half of what the last doubling brought. :doc:`/honesty` says how often that
# interval held in simulations, and where it did not.
