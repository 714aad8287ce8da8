"""Measure on three nodes: a Ray cluster on this machine stands in for machines. Needs `pip install "opperf[ray]"`."""

import os

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

from ray.cluster_utils import Cluster

import opperf

if __name__ == "__main__":
    # Without what nobody reads here, whose processes take half of a start.
    quiet = {"num_cpus": 1, "include_log_monitor": False}
    cluster = Cluster(initialize_head=True, head_node_args={**quiet, "include_dashboard": False})
    for _ in range(2):
        cluster.add_node(**quiet)
    try:
        fleet = f"ray:{cluster.address}"
        print(opperf.run("null:steady", direction="forward", fleet=fleet))
        print(opperf.compare("null:steady", base="null", new="null;slowdown=1.2", fleet=fleet, replicate=3))
    finally:
        cluster.shutdown()
