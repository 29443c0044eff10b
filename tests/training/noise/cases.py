"""Examples of rules in tables that a reader sees at a glance."""


def cases(table: dict[str, str]) -> list[tuple[str, ...]]:
    """Each example of each rule, for ``pytest.mark.parametrize``.

    >>> cases({"liaison": "옷이→오시, 밖에→바께", "left": "방이"})
    [('liaison', '옷이', '오시'), ('liaison', '밖에', '바께'), ('left', '방이')]
    """
    return [(rule, *each.split("→")) for rule, examples in table.items() for each in examples.split(", ")]
