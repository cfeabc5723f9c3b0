"""`python -m awa` and the installed program `awa`."""

import sys

from awa.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
