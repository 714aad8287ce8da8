"""Three nodes of Ray on this machine, until stdin ends; the first line of stdout is the address."""

import os
import sys

os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS": "0"}

from ray.cluster_utils import Cluster

# Without what nobody reads, whose processes take half the CPU time of a start.
head = {"num_cpus": 1, "include_log_monitor": False, "include_dashboard": False}
cluster = Cluster(initialize_head=True, head_node_args=head)
for _ in range(2):
    cluster.add_node(num_cpus=1, include_log_monitor=False)
print(cluster.address, flush=True)
sys.stdin.read()
cluster.shutdown()  # type: ignore[no-untyped-call]  # as Ray has it
