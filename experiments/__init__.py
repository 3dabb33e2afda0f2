"""The paper, redone: one small file per figure or table, run by ``python -m experiments``.

An experiment is a list of cells. A cell is a handful of settings that decide a row of numbers: everything random
in it is seeded from the settings, so a rerun gives the same row, times apart. Rows are kept as they come
(``_store``), drawn and judged (one ``section`` per experiment), and put together into docs/paper.md (``_page``).
Experiments import nearfar, never the reverse.
"""
