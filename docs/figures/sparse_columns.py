import warnings

import matplotlib.pyplot as plt
import numpy as np

import nearfar as nf

warnings.simplefilter("ignore", nf.errors.CoverageWarning)  # which is what the picture is about
N, BUDGET = 24, 360
points = np.random.default_rng(0).normal(size=(N, 2))
landmarks = list(range(6))
designs = {
    "random questions": (nf.design.random_questions(N, BUDGET), None),
    "questions about 6 landmarks": (
        nf.design.landmark_questions(N, landmarks, "k1", budget=BUDGET - 60),
        landmarks,
    ),
}
fig, axes = plt.subplots(2, 2, figsize=(7.4, 4.6), width_ratios=[2.4, 1])
for row, (name, (questions, marks)) in zip(axes, designs.items(), strict=True):
    answers = nf.simulate.answers(questions, points=points).triplets
    phi = nf.FeatureMap("k1", landmarks=marks).fit_transform(answers)
    dense = phi if isinstance(phi, np.ndarray) else phi.toarray()
    K = dense @ dense.T
    signs = np.sign(dense)
    row[0].imshow(signs, cmap="PuOr", vmin=-1.3, vmax=1.3, aspect="auto", interpolation="nearest")
    row[0].set(
        title=f"Phi: {name}",
        ylabel="objects",
        xlabel=f"{dense.shape[1]} columns, one per pair",
        xticks=[],
        yticks=[],
    )
    row[1].imshow(K, cmap="PuOr", vmin=-1, vmax=1)
    row[1].set(title="K", xticks=[], yticks=[])
plt.show()
