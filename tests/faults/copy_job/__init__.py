"""Real processes copy a topic, transaction by transaction, while they and the broker are killed: one exact copy."""
