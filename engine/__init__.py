"""Runs the networks in worker processes, so that the pages' process imports neither TensorFlow nor Keras.

``Engine.start`` starts workers; ``Engine.from_environment`` starts or finds them as these variables say:

* ATTENTION_ENGINE: empty, and the page starts workers of its own; a folder, and it uses the workers of ``python -m engine`` on this
  machine; an http address, and it asks ``deploy/serve.py`` there.
* ATTENTION_WORKERS: how many workers, 1 by default.
* ATTENTION_AHEAD: 0 keeps idle workers from compiling in advance, for machines whose cores are needed elsewhere.

``engine.open(folder)`` gives a model that answers as ``model.Corrector`` does. ``link`` leads to one worker, ``worker`` is its
program, ``shelf`` holds its models, ``desk`` queues the questions about one model, ``questions`` lists what can be asked.
"""

from engine.asked import EngineCorrector
from engine.client import Engine, own_model
from engine.errors import EngineBusyError, EngineDiedError, EngineError, EngineSlowError, OwnModelError
from engine.progress import STAGES, Progress
from engine.versions import version_on_disk

__all__ = [
    "STAGES",
    "Engine",
    "EngineBusyError",
    "EngineCorrector",
    "EngineDiedError",
    "EngineError",
    "EngineSlowError",
    "OwnModelError",
    "Progress",
    "own_model",
    "version_on_disk",
]
