"""Decisions of the controller: an image and a wish in, records and outcomes out. Pure."""
