"""Smaller networks: weights set to zero, or whole filters removed."""
