"""What the world may do to a broker: kill it, cut its power, feed it rubbish."""
