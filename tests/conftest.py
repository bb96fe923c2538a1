"""Settings for all tests.

`tests/helpers/` is on the import path (pyproject.toml): `import oracle` finds the oracle there.
"""

import os
import signal

from hypothesis import settings

# A first call builds tables and imports, so the time of a single example says nothing: no deadline.
# In CI the examples are the same in every run; elsewhere each run tries new ones.
settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")

# What a shell starts in the background ignores Ctrl-C, and so would the programs that tests start
# and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
