"""The loss of one answer against the two distances: the near one is 1, the far one varies. A figure per method.

Drawn with mu = 0.2 (CKL), alpha = 1 (t-STE) and margin = 0.5 (SOE).
"""

import matplotlib.pyplot as plt
import numpy as np

FAR = np.linspace(0, 2.5, 300)
N, F = 1.0, FAR**2
LOSSES = {
    "GNMDS": np.maximum(0, 1 + N - F),
    "CKL": -np.log((0.2 + F) / (0.4 + N + F)),
    "STE": np.log1p(np.exp(N - F)),
    "t-STE": np.log1p(((1 + F) / (1 + N)) ** -1.0),
    "SOE": np.maximum(0, 0.5 + np.sqrt(N) - np.sqrt(F)) ** 2,
}


def draw(chosen):
    _fig, ax = plt.subplots(figsize=(5.6, 2.9))
    for name, loss in LOSSES.items():
        mine = name == chosen
        ax.plot(
            FAR,
            loss,
            color="#2457a6" if mine else "#c3cad3",
            linewidth=2.4 if mine else 1.2,
            zorder=3 if mine else 2,
        )
    ax.axvline(1, color="#56606d", linestyle="--", linewidth=1)
    ax.annotate("near = far", (1.03, 2.85), color="#56606d", fontsize=9)
    ax.set(
        xlabel="distance to far (distance to near is 1)",
        ylabel="loss of the answer",
        ylim=(0, 3.1),
        title=chosen,
    )
    plt.show()


def gnmds():
    draw("GNMDS")


def ckl():
    draw("CKL")


def ste():
    draw("STE")


def tste():
    draw("t-STE")


def soe():
    draw("SOE")
