"""A training run: batches of examples, the loss, the schedule, checkpoints, and the record that it leaves."""
