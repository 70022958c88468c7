"""The AMQP listener: handshake, frames, heartbeats and every way in which a connection ends."""
