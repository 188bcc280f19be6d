"""Choosing by exact leave-one-out: families, smoothing, text recipes, calibration."""
