"""``python -m ginrummy_training`` is ``ginrummy``."""

import sys

from ginrummy_training.cli.main import main

if __name__ == "__main__":
    sys.argv[0] = "ginrummy"  # results note the command that made them
    sys.exit(main())
