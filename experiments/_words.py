"""The fixed words of the pages: what they are, which figure is where, what deviates from the paper."""

from __future__ import annotations

__all__ = ["DEVIATIONS", "FIGURES", "HEAD", "OURS", "READING", "SUMMARY"]

# one line for a paragraph, as the generated rest of the pages has it
SUMMARY = """# The paper, redone

[*Kernel functions based on triplet comparisons*](https://papers.nips.cc/paper/2017/hash/07211688a0869d995947a8fb11b215d6-Abstract.html), \
M. Kleindessner and U. von Luxburg, NIPS 2017 ([arXiv, with supplement](https://arxiv.org/abs/1607.08456)). Every figure is redone, and every claim \
has a verdict by a stated rule. `python -m experiments` computes what is missing and writes this page.

The numbers, rules and tables behind each verdict are in `experiments/results/paper-details.md`. Our own methods on the same data, and cblearn's, \
are in `experiments/results/paper-ours.md`. Embeddings are those that the paper used, with its optimiser ([embeddings](embeddings.md)).
"""
HEAD = """# The paper, redone: details

Generated from the rows beside this file; do not edit. `python -m experiments` computes what is missing and writes it; `python -m experiments usps mnist` \
runs some of it, and `python -m experiments --quick` all of it small, in under a minute, into `experiments/quick`.
"""
READING = """Claims are close paraphrases of the paper's text. Claims about embeddings are judged by the programs that the paper used, \
van der Maaten's GNMDS, CKL (mu = 0.1) and t-STE (alpha = d - 1): gradient descent from 1e-4 randn, an adaptive step, no \
regularisation, at most 1,000 steps; written anew from that description in `experiments/_descent.py`. \
**One clock**, the paper's: CPU seconds of one thread to compute a kernel matrix or an embedding, clustering apart. The paper's \
times are Matlab's on a laptop of 2017, so only ratios compare.
"""
FIGURES = [
    [
        "1",
        "what k1 and k2 compare",
        "[figure 1](#figure-1-what-the-kernels-compare)",
        "other points, same numbers",
    ],
    [
        "2",
        "counter-example: a chain and two far points",
        "[figure 2](#section-22-figure-2-where-k1-contradicts-the-distances)",
        "same configuration",
    ],
    [
        "3",
        "toy sets: distances, K1, K2, one object's similarities",
        "[figure 3](#section-22-figure-3-and-supplement-where-the-kernels-follow-them)",
        "our draws",
    ],
    ["main text", "food: dendrogram on k1", "[food](#food-a-tree-and-a-map-of-dishes)", "names for photos"],
    ["main text", "car: kernel PCA on k2", "[car](#car-a-map-of-cars)", "same answers, same pictures"],
    [
        "main text",
        "USPS: k1, purity and time",
        "[USPS, k1](#usps-purity-and-time-against-the-number-of-triplets)",
        "our draws",
    ],
    [
        "7",
        "USPS: the same for k2 and its triplets",
        "[USPS, k2](#usps-purity-and-time-against-the-number-of-triplets)",
        "our draws",
    ],
    [
        "supplement",
        "MNIST: purity and time against n, k1 and k2",
        "[MNIST](#mnist-purity-and-time-against-the-number-of-objects)",
        "our draws",
    ],
    [
        "supplement",
        "MNIST: maps of 20,000 digits, k1 and GNMDS",
        "[MNIST map](#mnist-a-map-of-20000-digits)",
        "our draws",
    ],
    [
        "supplement",
        "more toy sets",
        "[figure 3](#section-22-figure-3-and-supplement-where-the-kernels-follow-them)",
        "our draws",
    ],
    ["9", "food: GNMDS map", "[food](#food-a-tree-and-a-map-of-dishes)", "dots for photos"],
    [
        "supplement",
        "nature: kernel PCA on k1 and k2",
        "[nature](#nature-maps-and-a-tree-of-scenes)",
        "no data: simulated stand-in",
    ],
    [
        "supplement",
        "nature: dendrogram",
        "[nature](#nature-maps-and-a-tree-of-scenes)",
        "no data: simulated stand-in",
    ],
    [
        "supplement",
        "nature: GNMDS map",
        "[nature](#nature-maps-and-a-tree-of-scenes)",
        "no data: simulated stand-in",
    ],
]
DEVIATIONS = """## What deviates from the paper

- The diagonal shift is the smallest eigenvalue over informed objects; an object without answers has a zero row.
- With landmarks, k2 has columns inside the landmarks only.
- Every object gets equally many landmark questions, up to one.
- Repeated and contradicting answers count: an entry of Phi is (for - against) / (for + against). Without them it is the paper's.
- k-means is scikit-learn's, on Phi instead of K: the same objective.
- The published programs run on our compiled losses, from their own starts and steps.
- Kernels are means over ten runs, published programs over one to three.
- The toy sets and the points of figure 1 are not published; ours follow the description.
- The answers about nature scenes could not be fetched; a simulated stand-in of the same size shows that the code runs.
"""
OURS = """# Beyond the paper

Our own methods on the axes of [the paper's experiments](paper-details.md), what the paper leaves open, and cblearn's embeddings beside \
ours. Generated from the rows beside this file by `python -m experiments` (`python -m experiments peers --peers` for cblearn, hours in an environment of its own); do not edit. \
"Ours" are the score kernel, k1+k2, kernel PCA before k-means, and GNMDS, CKL, STE, t-STE and SOE by L-BFGS from a start computed \
from the answers, with a learnt pull to the centre (docs/embeddings.md).
"""
