"""The files of a short life, cut at every length and with every bit flipped: what starts keeps its promises, twice.

``python -m tests.faults.cut_and_flip`` (``make cutandflip``) goes through all of them, in pieces if it is told to; the
everyday run takes a sample.
"""
