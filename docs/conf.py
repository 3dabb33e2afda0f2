"""How Sphinx builds the site: ``make docs``."""

import os
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
sys.path.insert(0, str(HERE.parent / "src"))
os.environ["COLUMNS"] = "100"  # tables of the terminal have the same width everywhere
os.environ["PYTHONPATH"] = str(HERE.parent / "src")  # for commands that tutorials start

import matplotlib  # noqa: E402

import nearfar  # noqa: E402

matplotlib.use("agg")
sys.modules["nearfar.progress"] = nearfar.progress  # where autodoc looks for a public module that lies deeper

project = "nearfar"
author = "The nearfar developers"
copyright = "the nearfar developers, BSD-3-Clause"
release = version = nearfar.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "myst_parser",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "matplotlib.sphinxext.plot_directive",
    "command_line",
    "docstrings",
    "hidden_code",
    "mathml",
    "offline",
]
templates_path = ["_templates"]
exclude_patterns = [
    "_build",
    "_ext",
    "figures",
    "images/*.py",
    "**/GALLERY_HEADER.*",
    "**sg_execution_times.rst",
]
nitpicky = False
suppress_warnings = [
    "config.cache",  # functions among the settings of the gallery
    "myst.header",  # included pages begin with their own heading
    "ref.python",  # numpydoc links every attribute by its bare name, which several estimators share
]

# ---------------------------------------------------------------- pages in Markdown

source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "attrs_block", "attrs_inline"]
myst_heading_anchors = 3
html_math_renderer = "mathml"  # needs no network, where MathJax asks for a server
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# ---------------------------------------------------------------- names and docstrings

autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# ---------------------------------------------------------------- examples, run when the site is built


def tidy(config, name):
    """Give every example the same figures, and let it warn as it would in a terminal."""
    import matplotlib.pyplot as plt

    plt.rcdefaults()
    plt.style.use(str(HERE / "nearfar.mplstyle"))
    warnings.simplefilter("always", nearfar.errors.NearfarWarning)
    warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")


sphinx_gallery_conf = {
    "examples_dirs": ["../examples/tutorials", "../examples/gallery"],
    "gallery_dirs": ["tutorials", "gallery"],
    "filename_pattern": r"\.py$",
    "copyfile_regex": r"t7_.*\.(md|png)",  # a tutorial about real data, which is not there wherever the site is built
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("nearfar",),
    "reset_modules": (tidy,),
    "reset_modules_order": "before",
    "image_srcset": ["2x"],
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "capture_repr": ("_repr_html_", "__repr__"),
}

plot_html_show_source_link = False
plot_html_show_formats = False
plot_include_source = False
plot_formats = [("png", 180)]
plot_pre_code = (
    f"import matplotlib.pyplot as plt\nplt.rcdefaults()\nplt.style.use({str(HERE / 'nearfar.mplstyle')!r})"
)

# ---------------------------------------------------------------- the look

html_theme = "pydata_sphinx_theme"
html_title = "nearfar"
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["nearfar.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # a page that was opened from disk may not fetch other pages
html_sidebars = {"index": [], "start": [], "glossary": []}
html_theme_options = {
    "logo": {"text": "nearfar"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "navbar_end": ["theme-switcher"],
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "footer_start": ["copyright"],
    "footer_end": [],
    "back_to_top_button": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_context = {"default_mode": "auto"}
