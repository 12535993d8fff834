"""Networks with uncertainty in them: where it sits, how it is learned, and the one way to predict."""
