"""A node: every room plugged together, on the real machine or in the simulator.

``settings`` and ``sources`` say what a node is told, ``node`` is the composition root (it knows all rooms and
decides nothing), ``sides`` lists the protocols it opens, ``process`` is the operating system's view of it: signals, the
loop, descriptors, exit codes. This file stays empty of imports, so that a command pays only for what it uses.
"""
