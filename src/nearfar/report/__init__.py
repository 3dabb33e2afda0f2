"""From facts to figures to a page: what is drawn is computed elsewhere, what is computed is never drawn.

``make_report(answers)`` gives a ``Report`` with ``write``, ``write_json`` and ``write_bundle``.
"""

from nearfar.report.make import Report, make_report

__all__ = ["Report", "make_report"]
