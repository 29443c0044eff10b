"""A sentence that is looked at: the text and its correction beside one open view."""
