"""The process is killed without a word, at any moment: what was acknowledged is there when it comes back."""
