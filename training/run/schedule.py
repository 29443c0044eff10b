"""Learning rates as pure functions of the step, so that a resumed run continues on the same curve."""

from dataclasses import dataclass

SCHEDULES = ("paper", "trapezoid")


@dataclass(frozen=True)
class Schedule:
    """``paper``: Vaswani et al. (2017), equation 3, ``d_model^-0.5 · min(step^-0.5, step · warmup^-1.5)``,
    times ``peak``. ``trapezoid``: linear warm-up to ``peak``, constant, then linear to zero over the
    last ``decay`` share of the steps (Zhai et al. 2022; Hägele et al. 2024): its plateau does not
    depend on the length of the run, so a run can be lengthened or cut short. Steps count from 1.
    """

    kind: str
    peak: float
    warmup: int
    steps: int
    decay: float
    d_model: int

    def __post_init__(self):
        if self.kind not in SCHEDULES:
            raise ValueError(f"schedule should be one of {SCHEDULES}, received {self.kind!r}")
        if self.warmup < 1 or self.steps < 1 or not 0 <= self.decay <= 1:
            raise ValueError(f"impossible schedule: {self}")

    def __call__(self, step: int) -> float:
        if self.kind == "paper":
            return self.peak * self.d_model**-0.5 * min(step**-0.5, step * self.warmup**-1.5)
        falling = max(1.0, self.decay * self.steps)
        return self.peak * max(0.0, min(1.0, step / self.warmup, (self.steps - step + 1) / falling))
