"""What a link, or a browser that somebody has tampered with, may hold in place of something sensible."""

# No place, number, name or list of numbers that any page knows.
TEXTS = (
    "<script>",
    "-1",
    "+1",
    " 1",
    "1.5",
    "1e3",
    "nan",
    "inf",
    "²",
    "١",
    "9" * 400,
    "1;2",
    "\0",
    "{kind}",
    "%s",
    "../../etc",
)

# What JSON can carry in place of a number.
VALUES = (
    None,
    True,
    False,
    "1",
    "",
    1.5,
    float("nan"),
    float("inf"),
    -float("inf"),
    10**300,
    10**400,
    -1,
    [],
    [1],
    {},
    {"x": 1},
)
