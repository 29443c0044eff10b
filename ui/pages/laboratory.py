"""Change something in the network, ask it again, and see whether the attention mattered."""

from ui.look import look
from ui.views import EXPERIMENTS

look.show("laboratory", EXPERIMENTS, "experiment")
