"""
Careless people
===============

Of the twenty simulated people of the demo three guess most of the time. They agree with others hardly more often than a
coin does, and not with themselves when a question comes again.
"""

import matplotlib.pyplot as plt

import nearfar as nf

colours = nf.datasets.make_colours()
people = nf.noise_ceiling(colours.triplets).to_frame()
careless = people["participant"].is_in(list(colours.truth.careless))

fig, ax = plt.subplots()
for group, name, colour in (
    (~careless, "others", "#2457a6"),
    (careless, "careless, in truth", "#b35806"),
):
    rows = people.filter(group)
    ax.scatter(
        rows["with_others"], rows["with_themselves"], color=colour, label=name, s=40
    )
ax.axvline(0.5, color="#56606d", linestyle="--", linewidth=1)
ax.axhline(0.5, color="#56606d", linestyle="--", linewidth=1)
ax.set(
    xlabel="agrees with others on the same question",
    ylabel="agrees with themselves on repeats",
)
ax.legend(loc="lower right")
plt.show()

# %%
# The report names people to look at, with the reason; nobody is left out by itself. ``nearfar report answers.csv
# --exclude people.txt`` leaves out those that you list.
