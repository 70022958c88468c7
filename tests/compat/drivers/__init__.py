"""One small program a client library: commands in as JSON lines, results out as JSON lines.

Every driver answers the same commands, so a test is written once and asked of all clients. A driver is a process of
its own: a client that hangs is killed, and its threads and warnings stay out of the test run. Commands and results
are described in ``lines.py``; the Java and Go drivers (``../java``, ``../go``) speak the same lines.
"""
