"""Views of one sentence in the order of their tabs: VIEWS observe, EXPERIMENTS intervene.

A new view is a file here with a subclass of ``View``, and its texts in ``assets/texts/``. All modules of this
folder are imported and so declare their views and settings.
"""

from importlib import import_module
from pkgutil import iter_modules

from ui.shell.settings import Choice, register
from ui.views.view import DECLARED, Tabs, View

for _module in sorted(each.name for each in iter_modules(__path__)):
    import_module(f"{__name__}.{_module}")

_ordered = sorted(DECLARED, key=lambda view: view.order)
VIEWS: tuple[type[View], ...] = tuple(view for view in _ordered if view.page == "attention")
EXPERIMENTS: tuple[type[View], ...] = tuple(view for view in _ordered if view.page == "laboratory")
register(
    Choice("view", tuple(view.name for view in VIEWS), is_step=True),  # the open one
    Choice("experiment", tuple(view.name for view in EXPERIMENTS), is_step=True),
)
TABS = {"attention": Tabs(VIEWS, "view"), "laboratory": Tabs(EXPERIMENTS, "experiment")}  # by page
