"""What is learned and what follows from it: schema, summary, predictor, calibration, novelty, decision, explanation."""
