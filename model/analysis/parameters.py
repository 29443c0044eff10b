"""Counts the parameters of each part of a network, from the paths of its weights."""

import re
from collections.abc import Mapping

OUTPUT_BIAS = "output_bias"  # stored with the embedding, because both share their vectors, but it belongs to the output layer

# Role -> pattern of the names of its parts, in the order in which data passes through them.
_ROLES = {
    "embedding": r"embedding",
    "encoder_self_attention": r"encoder_\d+/self_attention",
    "encoder_feed_forward": r"encoder_\d+/feed_forward",
    "encoder_norm": r"encoder_\d+/around_\w+|encoder_norm",
    "encoder_recurrence": r"encoder_\d+/(?:forward|backward)_gru",
    "bridge": r"bridge_\d+",
    "decoder_self_attention": r"decoder_\d+/self_attention",
    "decoder_cross_attention": r"decoder_\d+/cross_attention",
    "decoder_feed_forward": r"decoder_\d+/feed_forward",
    "decoder_norm": r"decoder_\d+/around_\w+|decoder_norm",
    "decoder_recurrence": r"decoder_\d+/gru_cell",
    "only_attention": r"query|key|value",
    "join": r"join",
    "output_bias": OUTPUT_BIAS,
}
ROLES = tuple(_ROLES)


def group_parameters(sizes: Mapping[str, int]) -> dict[str, int]:
    """Sizes of arrays by path -> sizes of parts: ``encoder_1/self_attention``, ``embedding``, ``join`` …

    Paths are Keras's: network, layers from the outermost to the innermost, array. A part is named by at most
    two layers, so the four projections of one attention are one part. The sizes add up to the same total.
    Raises ValueError for a path that has no layer.
    """
    parts: dict[str, int] = {}
    for path, size in sizes.items():
        _, *layers = path.split("/")
        if len(layers) < 2:
            raise ValueError(
                f"a weight's path should name a network, a layer and an array, received {path!r}"
            )
        part = OUTPUT_BIAS if layers[-1] == OUTPUT_BIAS else "/".join(layers[:-1][:2])
        parts[part] = parts.get(part, 0) + size
    return parts


def role_of(part: str) -> str:
    """The role of a part, one of ROLES. Raises ValueError for a part that no network has."""
    for role, pattern in _ROLES.items():
        if re.fullmatch(pattern, part):
            return role
    raise ValueError(f"no network has a part {part!r}")


def by_role(parts: Mapping[str, int]) -> dict[str, int]:
    """Sizes of parts -> sizes of ROLES, all layers added. Roles that this network does not have are left out."""
    found: dict[str, int] = {}
    for part, size in parts.items():
        role = role_of(part)
        found[role] = found.get(role, 0) + size
    return {role: found[role] for role in ROLES if role in found}


def attention_share(parts: Mapping[str, int]) -> float:
    """The share of all parameters, in 0..1, that belongs to attention: the projections of queries, keys, values and outputs."""
    inside = sum(size for part, size in parts.items() if role_of(part).endswith("attention"))
    return inside / max(sum(parts.values()), 1)


def under(parts: Mapping[str, int], *places: str) -> int:
    """The number of parameters in the layers ``places``, such as ``encoder_1``."""
    inside = tuple(f"{place}/" for place in places)
    return sum(size for part, size in parts.items() if part in places or part.startswith(inside))
