"""One program per job queue, each run by the Python of that queue's own virtual environment.

They speak the same few words (`words.py`), so that the harness can give every queue the same work: install, enqueue,
singles, drain, listen, produce, move. Nothing here may import the rest of `bench`, which those environments lack.
"""
