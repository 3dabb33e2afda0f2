"""Show what a hidden block of an example printed as a terminal does: tutorials may run commands without a word of Python.

sphinx-gallery runs what stands between its ignore marks and leaves it out of the page, but for an empty block of code.
"""

import re

HIDDEN = re.compile(r"^\.\. code-block:: Python\n(?:   :dedent: 1\n)?\s*(?=^\.\. |\Z)", flags=re.MULTILINE)
PRINTED = "HIDDEN\n.. rst-class:: sphx-glr-script-out\n\n .. code-block:: none\n"


def uncover(text):
    """Text of a page without empty blocks of code, and with what they printed as a terminal."""
    return HIDDEN.sub("HIDDEN\n", text).replace(PRINTED, ".. code-block:: console\n").replace("HIDDEN\n", "")


def read(app, name, source):
    """Change the page of an example."""
    if name.startswith(("tutorials/", "gallery/")):
        source[0] = uncover(source[0])


def setup(app):
    """Look at every page as it is read."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
