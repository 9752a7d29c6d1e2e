"""`python -m svodviz`: the command line."""

import sys

from svodviz.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
