"""Everyone who is timed, each in a process of its own: askwise, a plain PyTorch loop and the peers.

A file here is one of them. Its TASKS name functions that take plain options, prepare data and model
untimed, and return the function that is timed. Only its own file imports a library.
"""
