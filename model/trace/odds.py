"""``Contrast``, two tokens that could stand in one row, and ``LogitDifferences``, how much likelier the one is.

B interventions. Probabilities are natural logarithms.
"""

from dataclasses import dataclass

import numpy as np

NO_ID = -1  # the id of a token that is known by its label alone


@dataclass(frozen=True)
class Contrast:
    """Why does row ``row`` write one token and not another? For an edit: why the fix and not what was typed?"""

    row: int
    written: int  # token id, or NO_ID
    instead: int  # token id, or NO_ID
    written_token: str  # as traces label them
    instead_token: str
    # A target that has ``instead_token`` in this row; None where only the id is known.
    other: str | None = None


@dataclass(frozen=True)
class LogitDifferences:
    """The log probabilities of both tokens of a contrast under B interventions.

    >>> LogitDifferences(np.log([0.8, 0.5]), np.log([0.2, 0.5])).differences.round(2).tolist()
    [1.39, 0.0]
    """

    log_written: np.ndarray  # (B,) float32
    log_instead: np.ndarray  # (B,) float32

    @property
    def differences(self) -> np.ndarray:
        """(B,) float32: log p(written) - log p(instead), in nats."""
        return self.log_written - self.log_instead
