"""The cluster that the other tests run on."""

import os

import ray


@ray.remote
def process():
    return os.getpid()


def test_it_has_two_cpus_on_the_loopback(cluster):
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    try:
        (node,) = ray.nodes()
        assert node["NodeManagerAddress"] == "127.0.0.1"
        assert ray.cluster_resources()["CPU"] == 2
        assert ray.get(process.remote()) != os.getpid()
    finally:
        ray.shutdown()
