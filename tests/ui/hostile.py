"""What a link, or a browser that somebody has tampered with, may hold in place of something sensible."""

# No place, number, name or list of numbers that any page knows.
TEXTS = ("<script>", "{kind}", "%s", "../../etc", "\0", " 1", "1;2", "9" * 400)
TEXTS += ("-1", "+1", "1.5", "1e3", "nan", "inf", "²", "١")

# What JSON can carry in place of a number.
VALUES = (None, True, False, "1", "", 1.5, float("nan"), float("inf"), -float("inf"), 10**300, 10**400, -1)
VALUES += ([], [1], {}, {"x": 1})
