"""What nearfar does, in three pictures: a question, answers in a table, and the map that follows from them."""

import matplotlib.pyplot as plt

import nearfar as nf

colours = nf.datasets.make_colours()
answers = colours.triplets
names, paint = answers.objects, dict(zip(answers.objects, colours.hex, strict=True))
first = [[names[x] for x in row] for row in answers.array[6::-1].tolist()]
anchor, near, far = first[0]

fig, (question, table, plane) = plt.subplots(1, 3, figsize=(9.6, 3.3), width_ratios=[0.8, 1.2, 1.25])
for ax, title in (
    (question, "1. A question"),
    (table, "2. The answers"),
    (plane, "3. What is alike"),
):
    ax.set_title(title, fontweight="bold")
    ax.set_axis_off()

for x, y, name in ((0.5, 0.72, anchor), (0.2, 0.17, near), (0.8, 0.17, far)):
    question.scatter(x, y, s=2100, marker="s", color=paint[name], edgecolor="#56606d", linewidth=0.8)
question.text(0.5, 0.45, "Which is more like the one above?", ha="center", va="center", fontsize=9)
question.annotate("chosen", (0.2, -0.08), ha="center", va="center", fontsize=9, color="#1a7457")
question.set(xlim=(-0.15, 1.15), ylim=(-0.15, 1))

for column, (head, at) in enumerate(zip(("anchor", "near", "far"), (0, 0.36, 0.7), strict=True)):
    table.text(at, 0.93, head, fontweight="bold", fontsize=9, va="center")
    for row, words in enumerate(first):
        y = 0.8 - 0.115 * row
        table.scatter(at + 0.012, y, s=38, color=paint[words[column]], edgecolor="#56606d", linewidth=0.4)
        table.text(at + 0.04, y, words[column], fontsize=7.5, va="center")
table.text(0, -0.03, f"... {len(answers):,} answers of 20 people", fontsize=9, va="center", color="#56606d")
table.set(xlim=(-0.02, 1.03), ylim=(-0.1, 1))

plane.scatter(*nf.fit(answers, "tste-2").map(2).T, c=colours.hex, s=42, edgecolor="#56606d", linewidth=0.4)
plane.set_aspect("equal", "datalim")
plt.show()
