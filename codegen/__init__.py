"""Makes source files from the data in `spec/`. Run by hand; nothing in `src/` imports it."""
