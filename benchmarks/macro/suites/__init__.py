"""One module a reference."""
