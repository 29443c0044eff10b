"""How well a model corrects, whether its confidence is true, and the sets and snapshots that show it."""
