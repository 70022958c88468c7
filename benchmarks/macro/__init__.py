"""Twinlog and the reference side by side: real clients, real processes, both servers measured in turn in one run.

A suite is a module of ``suites`` with the functions that ``__main__`` calls: ``add_arguments`` and ``run``. It starts
both servers, lets each workload run on one and then on the other, writes one JSON line a measurement (machine, versions
and settings in each) and ends with a table of ratios. Rates swing with everything else on a machine; the server's CPU a
record does so least, so look there first.
"""
