"""What was asked for, chosen and learned (the trained model), and what follows: predictor, decision, explanation."""
