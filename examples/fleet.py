"""Measure on three nodes: a Ray cluster on this machine stands in for machines. Needs `pip install "opperf[ray]"`."""

import os

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

from ray.cluster_utils import Cluster

import opperf

if __name__ == "__main__":
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    for _ in range(2):
        cluster.add_node(num_cpus=1)
    try:
        fleet = f"ray:{cluster.address}"
        print(opperf.run("null:steady", direction="forward", fleet=fleet))
        print(opperf.compare("null:steady", base="null", new="null;slowdown=1.2", fleet=fleet, replicate=3))
    finally:
        cluster.shutdown()
