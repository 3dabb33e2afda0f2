"""
6. Larger than memory, more than one machine
============================================

The same verbs for half a billion answers as for a hundred. This page uses small files, so that it can be built anywhere;
:doc:`/scale` has the measurements and a cost model.
"""

# %%
# Files
# -----
# A thousand objects, twenty landmarks, sixty thousand answers in six Parquet files. In practice a log might write
# one an hour.

import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import nearfar as nf

folder = Path(tempfile.mkdtemp())
N = 1_000
toy = nf.datasets.make_toy("moons", N)
names = [f"object {x}" for x in range(N)]
landmarks = [names[x] for x in nf.design.random_landmarks(names, 20)]
questions = nf.design.landmark_questions(names, landmarks, "k1", budget=60 * N)
answers = nf.simulate.answers(questions, points=toy.points, flip=0.1).triplets
for part in range(6):
    nf.write_triplets(answers[part::6], folder / f"hour-{part}.parquet")

# %%
# Streaming
# ---------
# ``scan_triplets`` reads batches, ``partial_fit`` counts them. Memory depends on the objects and the columns, not on the answers,
# and the result is the same to the last bit, whatever the order of the files.

feature_map = nf.FeatureMap("k1", landmarks=landmarks)
for batch in nf.scan_triplets(str(folder / "hour-*.parquet"), objects=names):
    feature_map.partial_fit(batch)
phi = feature_map.features_
print(
    phi.shape,
    np.array_equal(
        phi, nf.FeatureMap("k1", landmarks=landmarks).fit_transform(answers)
    ),
)

# %%
# Nothing that follows builds an n x n matrix: map and clusters work on Phi.

points = nf.KernelPCA(2).fit_transform(phi)
labels = nf.KernelKMeans(n_clusters=2, random_state=0).fit_predict(phi)
fig, ax = plt.subplots(figsize=(6.4, 4.2))
for cluster in range(2):
    ax.scatter(*points[labels == cluster].T, s=6)
ax.set(title="a thousand objects, streamed from six files", aspect="equal")
ax.set_axis_off()
plt.show()

# %%
# Rows on disk
# ------------
# Where Phi itself does not fit, its rows go to a scratch folder.

with nf.scale.scratch(folder):
    collected = nf.scale.read_triplets(str(folder / "hour-*.parquet"), objects=names)
    blocks = nf.scale.FeatureMap("k1", landmarks=landmarks).fit_transform(collected)
    from_disk = (
        nf.KernelKMeans(n_clusters=2, random_state=0).fit_predict(blocks).to_array()
    )
print("the same clusters:", nf.metrics.purity(from_disk, labels) == 1.0)

# %%
# More than one machine
# ---------------------
# Two worker processes here; on a cluster, ``--dask tcp://HOST:PORT``. Workers read the files themselves, and the verbs of
# ``nf.scale`` are the same: :ref:`the example in the gallery <sphx_glr_gallery_g16_dask.py>` is in Python.

(folder / "landmarks.txt").write_text("\n".join(landmarks))
command = (
    "nearfar cluster hour-0.parquet hour-1.parquet --model k1 --landmarks landmarks.txt "
    "--clusters 2 --starts 2 --dask local:2 -o clusters.csv --quiet"
)
print(f"$ {command}\n")
subprocess.run([sys.executable, "-m", *shlex.split(command)], cwd=folder, check=True)
print((folder / "clusters.csv").read_text()[:120])
