"""What needs Ray: left out where it is not installed (`make test-scale` has an environment)."""

import importlib.util
import os
import secrets
from pathlib import Path

import pytest

HAS_RAY = importlib.util.find_spec("ray") is not None
collect_ignore_glob = [] if HAS_RAY else ["test_*.py"]

# Before Ray is imported. The first keeps every cluster of the tests on 127.0.0.1: Ray takes the
# loopback for its own address where it would not form clusters of several machines.
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_AUTH_MODE"] = "token"  # as `ray start` does
os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
os.environ["RAY_py_gcs_connect_timeout_s"] = "1"  # where nothing answers, nothing will
# Of nodes, which import tests/helpers/ray_policies.py and the packages that are tested here.
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(Path(__file__).parents[1] / "helpers"), *filter(None, [os.environ.get("PYTHONPATH")])]
)

MEMORY = 80 << 20
"""Of each node's object store, in bytes: no test keeps more than a few kilobytes there."""


@pytest.fixture(scope="session")
def cluster():
    """A cluster of one node with two CPUs; `cluster.address` is what a driver connects to."""
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 2, "object_store_memory": MEMORY, "include_dashboard": False}
    started = Cluster(initialize_head=True, head_node_args=node)
    yield started
    started.shutdown()
