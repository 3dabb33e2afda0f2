"""
A map with pictures
===================

Eighty handwritten digits; the only thing that is known about them are answers "this one is nearer to that one".
"""

import matplotlib.pyplot as plt
from matplotlib.offsetbox import AnnotationBbox, OffsetImage
from sklearn.datasets import load_digits

import nearfar as nf

digits = load_digits()
questions = nf.design.random_questions(80, 8_000)
answers = nf.simulate.answers(questions, points=digits.data[:80], noise=0.05).triplets

space = nf.fit(answers, "tste-2")
points = space.map(2)

fig, ax = plt.subplots(figsize=(6.4, 5.6), layout="none")
ax.scatter(*points.T, s=0)
for point, image in zip(points, digits.images, strict=False):
    ax.add_artist(
        AnnotationBbox(OffsetImage(image, cmap="Greys", zoom=2.4), point, frameon=False)
    )
ax.set_axis_off()
plt.show()

# %%
# From the shell, with a folder of pictures: ``nearfar map answers.csv --images pictures -o map.svg``. Only closeness
# means something on such a map; directions and the scale do not.
