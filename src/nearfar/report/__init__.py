"""Words and drawings of an analysis: what is drawn is computed elsewhere, and nothing is computed here.

``make_report(answers)`` gives a ``Report`` with ``write``, ``write_json`` and ``write_bundle``.
"""

from nearfar.report.make import Report, make_report
from nearfar.report.pseudonyms import keep_key, key_beside, pseudonyms, read_key
from nearfar.report.summary import analysis_html

__all__ = ["Report", "analysis_html", "keep_key", "key_beside", "make_report", "pseudonyms", "read_key"]
