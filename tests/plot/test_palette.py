"""Clusters can be told apart by any colour vision."""

import numpy as np
import pytest

from nearfar.datasets.colours import lab_from_hex
from nearfar.plot.style import PALETTE

# what is left of linear sRGB without one kind of cone (Machado, Oliveira and Fernandes 2009, severity 1)
VISION = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}  # fmt: skip


def seen(code, vision):
    """A colour as it looks to somebody."""
    rgb = np.array([int(code[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(np.array(vision) @ linear, 0, 1)
    rgb = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return "#" + "".join(f"{round(255 * value):02x}" for value in rgb)


@pytest.mark.parametrize("vision", VISION.values(), ids=VISION)
def test_every_two_colours_differ(vision):
    lab = lab_from_hex([seen(code, vision) for code in PALETTE])
    apart = np.linalg.norm(lab[:, None] - lab, axis=2)
    assert apart[np.triu_indices(len(lab), 1)].min() > 15  # a just noticeable difference is about 2
