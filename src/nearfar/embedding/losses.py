"""The losses: each a pure function of a triplet's two squared distances.

``near`` and ``far`` are the squared distances anchor-near and anchor-far, ``parameter`` is the loss's own number.
Every function returns (loss, d loss / d near, d loss / d far); nothing here knows about points or answers.
The papers that they are from are named in ``nearfar.embedding.estimators``.

They are written without branches, and ste without library calls, so that the compiler can work on several answers
at once; that makes a pass over the answers about twice as fast. Numba keeps the compiled pass with loop.py and does
not notice a change here: after one, touch loop.py or delete __pycache__.
"""

from __future__ import annotations

import math

from nearfar._tools.compiled import compiled

GNMDS, CKL, STE, TSTE, SOE, LAPSE = range(6)
TINY = 1e-300  # keeps log and division finite where points coincide
TINY_DISTANCE = 1e-7  # the slope of a distance is undefined at zero; below this it is shrunk
MAX_STEPS = 16  # powers up to this many half steps are multiplied out

pure = compiled(inline="always", error_model="numpy")


@pure
def gnmds(near: float, far: float, parameter: float) -> tuple[float, float, float]:
    """max(0, 1 + near - far); ``parameter`` is not used."""
    loss = max(1.0 + near - far, 0.0)
    slope = 1.0 if loss > 0.0 else 0.0
    return loss, slope, -slope


@pure
def ckl(near: float, far: float, mu: float) -> tuple[float, float, float]:
    """-log (mu + far) / (2 mu + near + far)."""
    left, right = near + mu, max(far + mu, TINY)
    slope = 1.0 / (left + right)
    odds = left / right
    return math.log(1.0 + odds), slope, -slope * odds


@pure
def ste(near: float, far: float, parameter: float) -> tuple[float, float, float]:
    """log(1 + exp(near - far)); ``parameter`` is not used."""
    gap = near - far
    e = _exp_minus(abs(gap))
    slope = (1.0 if gap > 0.0 else e) / (1.0 + e)
    return _log1p_unit(e) + max(gap, 0.0), slope, -slope


@pure
def tste(near: float, far: float, alpha: float) -> tuple[float, float, float]:
    """log(1 + r^((alpha + 1) / 2)) with r = (1 + near / alpha) / (1 + far / alpha)."""
    left, right = alpha + near, alpha + far
    odds = _half_power(left / right, alpha + 1.0)
    slope = 0.5 * (alpha + 1.0) * odds / ((1.0 + odds) * left * right)  # one division for two slopes
    return math.log(1.0 + odds), slope * right, -slope * left


@pure
def soe(near: float, far: float, margin: float) -> tuple[float, float, float]:
    """max(0, margin + sqrt(near) - sqrt(far)) squared."""
    left, right = math.sqrt(near), math.sqrt(far)
    short = max(margin + left - right, 0.0)
    return short * short, short / max(left, TINY_DISTANCE), -short / max(right, TINY_DISTANCE)


@pure
def lapse(near: float, far: float, lapses: float) -> tuple[float, float, float]:
    """-log of the probability of an answer: a guess with probability ``lapses``, else logistic in the distances."""
    left, right = math.sqrt(near), math.sqrt(far)
    lead = right - left
    e = _exp_minus(abs(lead))
    surely = (1.0 if lead > 0.0 else e) / (1.0 + e)
    chosen = 0.5 * lapses + (1.0 - lapses) * surely
    slope = 0.5 * (1.0 - lapses) * e / ((1.0 + e) * (1.0 + e) * chosen)
    return -math.log(chosen), slope / max(left, TINY_DISTANCE), -slope / max(right, TINY_DISTANCE)


@pure
def _exp_minus(x: float) -> float:
    """exp(-x) for x >= 0 to 1e-14: Taylor's series at x / 64, squared six times; below 2e-16 it stays there."""
    y = min(x, 36.0) * (-1.0 / 64.0)
    e = 1.0 + y * (1.0 / 14.0)
    for k in range(13, 0, -1):
        e = 1.0 + y * e * (1.0 / k)
    for _ in range(6):
        e *= e
    return e


@pure
def _log1p_unit(e: float) -> float:
    """log(1 + e) for 0 <= e <= 1 to 1e-16: the series of 2 artanh(s) at s = e / (2 + e) <= 1/3."""
    s = e / (2.0 + e)
    z = s * s
    total = 1.0 / 33.0
    for k in range(31, 0, -2):
        total = total * z + 1.0 / k
    return 2.0 * s * total


@pure
def _half_power(base: float, halves: float) -> float:
    """base ^ (halves / 2), multiplied out where ``halves`` is a small whole number, as it is by default."""
    count = int(halves)
    if count != halves or count > MAX_STEPS:
        return math.pow(base, 0.5 * halves)
    power = math.sqrt(base) if count % 2 else 1.0
    for _ in range(count // 2):
        power *= base
    return power
