"""Leave-one-out, and all that is chosen by it: families, smoothing, text recipes, calibration."""
