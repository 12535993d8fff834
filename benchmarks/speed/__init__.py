"""`make bench`: askwise beside the peers, interleaved in one run.

rows/ has one measurement per file; contest.py runs contestants in turn, process.py talks to them.
"""
