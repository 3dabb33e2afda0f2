from .make import Report as Report
from .make import make_report as make_report
from .notebook import analysis_html as analysis_html
