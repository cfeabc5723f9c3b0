"""The budgets of the engine, measured: `make bench` prints each row with its figure, its ratio and met or missed.

    budget      what is wanted, line by line: data, no code
    rows/       how each row is measured, one subject a file; a row answers figures for its lines
    arena       the server, a fresh database for each measurement, the systems under test
    peers       the job queues, ours among them: their environments and how their runners are started
    runners/    what runs inside those environments
    table       the verdicts, printed and kept as JSON under bench/results

Absolute times say little on a machine that others use as well, so whatever is compared is measured in turns in one run
(A B A B) and the medians are compared.
"""
