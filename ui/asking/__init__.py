"""Where pages ask the engine, wait for its answers, choose the model, and follow files under way."""
