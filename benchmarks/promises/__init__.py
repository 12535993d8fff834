"""Simulations of what askwise promises: bands, certificates, estimates, suspects, needles."""
