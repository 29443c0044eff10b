"""Hostile values for settings of a link and for messages of a tampered browser."""

# No place, number, name or list of numbers that any page knows.
TEXTS = ("<script>", "{kind}", "%s", "../../etc", "\0", " 1", "1;2", "9" * 400)
TEXTS += ("-1", "+1", "1.5", "1e3", "nan", "inf", "²", "١")

# Values that JSON can carry in place of a number.
VALUES = (None, True, False, "1", "", 1.5, float("nan"), float("inf"), -float("inf"), 10**300, 10**400, -1)
VALUES += ([], [1], {}, {"x": 1})
