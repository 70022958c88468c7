"""``python -m twinlog`` is the command ``twinlog``."""

from twinlog.cli import main

main()
