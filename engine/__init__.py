"""The networks in processes of their own, asked from a process that imports neither TensorFlow nor Keras.

``Engine.start`` begins the workers, ``Engine.from_environment`` begins or finds them as the environment says.
``engine.open(folder)`` is a model that answers as ``model.Corrector`` does.
"""

from engine.client import Engine, EngineCorrector, own_model
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
