"""Measure on two nodes: a Ray cluster on this machine stands in for machines. Needs `pip install "opperf[ray]"`."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

from ray.cluster_utils import Cluster

import opperf


@contextmanager
def two_nodes() -> Iterator[str]:
    """Start a cluster of two nodes, and give its name as a fleet."""
    # Without what nobody reads here, whose processes take half of a start.
    quiet = {"num_cpus": 1, "include_log_monitor": False}
    cluster = Cluster(initialize_head=True, head_node_args={**quiet, "include_dashboard": False, "no_monitor": True})
    try:
        cluster.add_node(**quiet)
        yield f"ray:{cluster.address}"
    finally:
        cluster.shutdown()


def measure(fleet: str) -> None:
    """Measure an operator on one of the nodes, and compare two sides on both."""
    print(opperf.run("null:steady", direction="forward", fleet=fleet))
    print(opperf.compare("null:steady", base="null", new="null;slowdown=1.2", fleet=fleet, replicate=2))


if __name__ == "__main__":
    with two_nodes() as fleet:
        measure(fleet)
