"""Stories told to a running broker, fact by fact."""
