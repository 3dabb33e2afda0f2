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
ax.errorbar(
    points["answers"],
    points["accuracy"],
    yerr=2 * points["standard_error"],
    fmt="o-",
    capsize=3,
)
low, high = curve.ceiling.bracket
ax.axhspan(low, high, color="#b35806", alpha=0.25, linewidth=0, label="best possible")
ax.set(
    xscale="log",
    xlabel="answers to learn from",
    ylabel="held-out accuracy, ± 2 standard errors",
)
ax.set_xticks(
    [500, 1_000, 2_000, 4_000, 8_000],
    [f"{x:,}" for x in [500, 1_000, 2_000, 4_000, 8_000]],
)
ax.minorticks_off()
ax.legend(loc="lower right")
plt.show()

# %%
# What twice as many answers would bring is extrapolated from such points. :doc:`/honesty` says how often that interval
# held in simulations, and where it did not.
