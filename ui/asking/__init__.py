"""How pages ask the engine: questions, waiting for a model, the choice of a model, and files that are being
corrected."""
