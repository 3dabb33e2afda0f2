"""Small reports for tests: two groups of objects, a few people, one of them careless; made once per process."""

from functools import cache

import numpy as np
from PIL import Image

from nearfar import Triplets
from nearfar.report.make import make_report

HOSTILE = [
    '<script>window.hacked = "tag"</script>',
    '</script><script>window.hacked = "closed"</script>',
    '"onmouseover=\'window.hacked = "attribute"\' x="',
    "<img src=x onerror=\"window.hacked='image'\">",
    "{{ 7 * 7 }} {% raw %} @{name} $index $$x^2$$",
    "<!-- comment --> & &amp; \u2028 line",
    "تفاحة \u202e reversed",
    '🍏 it\'s "quoted"',
    "../../etc/passwd",
    "a" * 300,
    "=1+1",
    "C:\\temp\\file",
]


def answers(n=12, m=1500, people=6, careless=1, names=None, seed=0):
    """Points on a line with a gap in the middle; the careless guess, fast and to the left. 60 questions repeat."""
    rng = np.random.default_rng(seed)
    at = np.concatenate([np.arange(n // 2), 20 + np.arange(n - n // 2)]).astype(float)
    rows = np.array([rng.permutation(n)[:3] for _ in range(m)])
    rows[-120:-60] = rows[-60:]
    who = np.arange(m) % people
    lazy = who >= people - careless
    left_is_near = np.abs(at[rows[:, 0]] - at[rows[:, 1]]) < np.abs(at[rows[:, 0]] - at[rows[:, 2]])
    honest = left_is_near ^ (rng.random(m) < 0.08)
    goes_left = np.where(lazy, rng.random(m) < 0.85, honest)
    rows[~goes_left] = rows[~goes_left][:, [0, 2, 1]]
    return Triplets(
        *rows.T,
        objects=names or [f"thing {i:02d}" for i in range(n)],
        participant=np.array([f"worker-{p}" for p in range(people)])[who],
        seconds=np.where(lazy, 0.2, 2.0) * rng.lognormal(0, 0.2, m),
        near_side=np.where(goes_left, 0, 1),
    )


@cache
def small_report():
    return make_report(answers(), title="Small")


@cache
def hostile_report():
    return make_report(answers(names=HOSTILE), title=HOSTILE[0], show_participants=True)


def paint(folder, names, size=(60, 40)):
    """A picture file per name, all different."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    for name in names:
        pixels = rng.integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{name}.png")
    return folder
