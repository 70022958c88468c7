"""The HTTP API, request by request, against a broker in a process of its own."""
