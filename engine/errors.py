"""The reasons why no answer came. Each class is one message that a page shows (``ui/asking/models.py``)."""


class EngineError(RuntimeError):
    """No answer came from the engine; the message says why."""


class EngineBusyError(EngineError):
    """More questions wait than will be answered soon. Asking again in a few seconds may help."""


class EngineDiedError(EngineError):
    """The worker ended twice over one question, or cannot be started."""


class EngineSlowError(EngineError):
    """No answer came within the time that the engine was given."""


class OwnModelError(EngineError):
    """The model that ATTENTION_MODEL names cannot be used, or has failed."""


class ModelChangedError(EngineError):
    """The model's files are no longer those that the question was about. Open the folder again."""


class LibraryMissingError(EngineError):
    """The answer needs TensorFlow, which is not installed where the worker runs. Corrections and attention do not."""


def told(error: Exception) -> Exception:
    """LibraryMissingError in place of a failed import of TensorFlow or Keras; any other error as it is."""
    if isinstance(error, ModuleNotFoundError) and error.name in ("tensorflow", "keras"):
        return LibraryMissingError(f"{error.name} is not installed")
    return error
