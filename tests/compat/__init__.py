"""Other people's clients as real processes against a real broker."""
