from .make import Report as Report
from .make import make_report as make_report
from .pseudonyms import keep_key as keep_key
from .pseudonyms import key_beside as key_beside
from .pseudonyms import pseudonyms as pseudonyms
from .pseudonyms import read_key as read_key
from .summary import analysis_html as analysis_html
