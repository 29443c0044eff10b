"""Training run: batches of examples, loss, learning-rate schedule, checkpoints, record."""
