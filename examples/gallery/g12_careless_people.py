"""
Careless people
===============

Of the twenty simulated people of the demo three guess most of the time. They agree with others hardly more often than a
coin does, and not with themselves when a question comes again.
"""

import matplotlib.pyplot as plt

import nearfar as nf

colours = nf.datasets.make_colours()
people = nf.analyse(colours.triplets, "score").people
careless = set(colours.truth.careless)

fig, ax = plt.subplots()
for is_careless, name, colour in (
    (False, "others", "#2457a6"),
    (True, "careless, in truth", "#b35806"),
):
    rows = [
        person for person in people.rows if (person.name in careless) == is_careless
    ]
    ax.scatter(
        [person.with_others.value for person in rows],
        [person.with_themselves.value for person in rows],
        color=colour,
        label=name,
        s=40,
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
# The report names participants to check, with the reasons; nobody is left out automatically. ``nearfar report
# answers.csv --exclude people.txt`` leaves out those that you list.
