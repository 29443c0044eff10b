"""Evaluation of models: correction scores, calibration, test sets, studies of attribution."""
