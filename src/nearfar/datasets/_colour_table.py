"""A hundred colours of the CSS standard (sRGB), near-whites and near-duplicates left out, and CIELAB."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_TABLE = """
aquamarine 7fffd4, black 000000, blue 0000ff, blueviolet 8a2be2, brown a52a2a, burlywood deb887,
cadetblue 5f9ea0, chartreuse 7fff00, chocolate d2691e, coral ff7f50, cornflowerblue 6495ed,
crimson dc143c, cyan 00ffff, darkcyan 008b8b, darkgoldenrod b8860b, darkgray a9a9a9,
darkgreen 006400, darkkhaki bdb76b, darkmagenta 8b008b, darkolivegreen 556b2f, darkorange ff8c00,
darkorchid 9932cc, darkred 8b0000, darksalmon e9967a, darkseagreen 8fbc8f, darkslateblue 483d8b,
darkslategray 2f4f4f, darkturquoise 00ced1, deeppink ff1493, deepskyblue 00bfff, dimgray 696969,
dodgerblue 1e90ff, firebrick b22222, forestgreen 228b22, gold ffd700, goldenrod daa520,
gray 808080, green 008000, greenyellow adff2f, hotpink ff69b4, indianred cd5c5c, indigo 4b0082,
ivory fffff0, khaki f0e68c, lightblue add8e6, lightcoral f08080,
lightgreen 90ee90, lightsalmon ffa07a, lightseagreen 20b2aa, lightskyblue 87cefa,
lightsteelblue b0c4de, lime 00ff00, limegreen 32cd32, magenta ff00ff, mediumaquamarine 66cdaa,
mediumblue 0000cd, mediumorchid ba55d3, mediumpurple 9370db, mediumseagreen 3cb371,
mediumslateblue 7b68ee, mediumvioletred c71585, midnightblue 191970, navy 000080, olive 808000,
olivedrab 6b8e23, orange ffa500, orangered ff4500, orchid da70d6, palegreen 98fb98,
paleturquoise afeeee, palevioletred db7093, peachpuff ffdab9, peru cd853f, pink ffc0cb,
plum dda0dd, purple 800080, rebeccapurple 663399, red ff0000, rosybrown bc8f8f, royalblue 4169e1,
saddlebrown 8b4513, salmon fa8072, sandybrown f4a460, seagreen 2e8b57, sienna a0522d,
silver c0c0c0, skyblue 87ceeb, slateblue 6a5acd, slategray 708090, springgreen 00ff7f,
steelblue 4682b4, tan d2b48c, teal 008080, thistle d8bfd8, tomato ff6347, turquoise 40e0d0,
violet ee82ee, white ffffff, yellow ffff00, yellowgreen 9acd32
"""
CSS: dict[str, str] = {name: f"#{code}" for name, code in map(str.split, _TABLE.split(","))}

# linear sRGB -> CIE XYZ, and the white point D65 (IEC 61966-2-1)
_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
_WHITE = np.array([0.95047, 1.0, 1.08883])

# upper ends of hue angles in CIELAB, degrees; pink goes on from 340 through 0
_HUES = {18: "pink", 50: "red", 80: "orange", 112: "yellow", 165: "green", 235: "cyan", 309: "blue"}
_HUES |= {340: "purple", 360: "pink"}


def lab_from_hex(codes: list[str]) -> NDArray[np.float64]:
    """(n, 3) CIELAB coordinates (L*, a*, b*) of sRGB colours such as "#ff0000".

    >>> np.round(lab_from_hex(["#ff0000", "#008000"])).tolist()
    [[53.0, 80.0, 67.0], [46.0, -52.0, 50.0]]
    """
    rgb = np.array([[int(code[i : i + 2], 16) for i in (1, 3, 5)] for code in codes]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    t = linear @ _XYZ.T / _WHITE
    f = np.where(t > 216 / 24389, np.cbrt(t), (24389 / 27 * t + 16) / 116)
    x, y, z = f.T
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=1)


def hue_group(lab: NDArray[np.float64]) -> str:
    """The name of a colour's hue, "grey" where it has next to none.

    >>> hue_group(lab_from_hex(["#ff0000"])[0]), hue_group(lab_from_hex(["#808080"])[0])
    ('red', 'grey')
    """
    if np.hypot(lab[1], lab[2]) < 13:
        return "grey"
    hue = np.degrees(np.arctan2(lab[2], lab[1])) % 360
    return next(name for end, name in _HUES.items() if hue <= end)
