"""The one way to predict: trace a network, split it, build a program, stream items through it."""
