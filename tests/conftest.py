"""Settings for all tests.

`tests/` is on the import path (pyproject.toml): `import oracle` finds tests/oracle.py.
"""

import os

from hypothesis import settings

# A first call builds tables and imports, so the time of a single example says nothing: no deadline.
# In CI the examples are the same in every run; elsewhere each run tries new ones.
settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")
