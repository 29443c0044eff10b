"""Everything that decides a run's result, besides the corpus itself."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from model.config import NetworkConfig, Seq2SeqConfig, TransformerConfig
from model.folder import find_model_folder, fingerprint, load_model_folder, model_name
from model.tokenizer import Tokenizer
from training.judge import Judge
from training.noise.pairs import read_mix
from training.record import Past
from training.schedule import Schedule
from training.stream import StreamSettings, read_widths


@dataclass(frozen=True)
class TrainingConfig:
    """The settings of one run; ``run.json`` holds them."""

    corpus: tuple[str, ...]  # file names, without folders
    dev: str | None
    schedule: Schedule
    network: NetworkConfig
    label_smoothing: float = 0.0
    optimizer: str = "adam"
    precision: str = "float32"
    init: str | None = None  # name and fingerprint of the model it starts from; None: from nothing
    judge: str | None = None  # name and fingerprint of the model that picks the pairs; None: all are kept
    judge_share: float = 1.0  # of the pairs that it keeps for their loss
    source_weights: dict[str, float] = field(default_factory=dict)  # how often sentences of a source are read
    stream: StreamSettings = field(default_factory=StreamSettings)


class Origin(NamedTuple):
    """The model a run starts from."""

    name: str
    config: NetworkConfig
    tokenizer: Tokenizer
    weights: list[np.ndarray]
    past: Past

    @classmethod
    def load(cls, model: str, snapshot: int | None = None) -> "Origin":
        """From a model's name in ``assets/`` or its folder; with the weights of a ``snapshot`` that it keeps.

        Raises ModelFolderError.
        """
        folder: Path = find_model_folder(model)
        network, tokenizer, found = load_model_folder(folder, snapshot)
        config = replace(network.config, minimum_confidence=0.0)  # chosen anew once the weights are known
        name = f"{model_name(folder)} {found}"
        return cls(name, config, tokenizer, network.get_weights(), Past.read(folder))

    def widened(self, dff: int) -> "Origin":
        """The same origin for a network with ``dff`` feed-forward units. Raises ValueError for fewer than it has."""
        if not isinstance(self.config, TransformerConfig) or dff < self.config.dff:
            raise ValueError(
                f"dff should be at least that of the model to start from, received {dff}: {self.config}"
            )
        return self._replace(config=replace(self.config, dff=dff))

    def put_into(self, network) -> None:
        """Give a built network these weights; where it is wider it computes the same function at first.

        New hidden units keep the weights they were built with on their way in and get zeros on their way
        out, so they change nothing until they are trained (after Chen, Goodfellow and Shlens 2016, Net2Net).
        """
        for variable, weights in zip(network.weights, self.weights, strict=True):
            grown = np.asarray(variable.value).copy()
            grown[len(weights) :] = 0  # rows that the origin lacks: the way out of a new unit
            grown[tuple(slice(size) for size in weights.shape)] = weights
            variable.assign(grown)


def network_config(options: dict, vocab_size: int) -> NetworkConfig:
    """The config of the architecture that the options name, with the sizes they give."""
    shared = {"vocab_size": vocab_size, "dropout_rate": options["dropout"]}
    shared |= {name: options[name] for name in ("d_model", "num_layers")}
    if options["architecture"] == "seq2seq":
        return Seq2SeqConfig(**shared)
    return TransformerConfig(**shared, **{name: options[name] for name in ("num_heads", "dff", "norm_first")})


def training_config(
    options: dict,
    corpus: tuple[str, ...],
    dev: str | None,
    vocab_size: int,
    origin: Origin | None,
    judge: Judge | None,
) -> TrainingConfig:
    """The settings that the options of the command line describe."""
    network = origin.config if origin else network_config(options, vocab_size)
    streamed = (
        "seed",
        "batch_tokens",
        "strength",
        "rare_copies",
        "drill_share",
        "name_share",
        "aim_share",
        "laugh_share",
        "hearsay_share",
        "space_share",
        "space_drill_share",
        "everyday_share",
    )
    return TrainingConfig(
        corpus=tuple(Path(path).name for path in corpus),
        dev=Path(dev).name if dev else None,
        schedule=Schedule(
            kind=options["schedule"],
            d_model=network.d_model,
            **{name: options[name] for name in ("peak", "warmup", "steps", "decay")},
        ),
        network=network,
        label_smoothing=options["label_smoothing"],
        optimizer=options["optimizer"],
        precision=options["precision"],
        init=origin.name if origin else None,
        judge=f"{model_name(judge.folder)} {fingerprint(judge.folder)}" if judge else None,
        judge_share=judge.share if judge else 1.0,
        source_weights=dict(options["weights"]),
        stream=StreamSettings(
            **{name: options[name] for name in streamed},
            mix=read_mix(options["mix"]),
            widths=read_widths(options["widths"]),
        ),
    )
