"""``python -m nearfar`` is the same as ``nearfar``."""

from nearfar.cli import main

if __name__ == "__main__":
    main()
