"""Fixtures: the tiny network of the main tests, and a local Ray cluster of several nodes."""

import os
from pathlib import Path

import pytest

from tests.conftest import tiny_corrector, tiny_folder, tiny_network, tiny_tokenizer

__all__ = ["tiny_corrector", "tiny_folder", "tiny_network", "tiny_tokenizer"]

ROOT = Path(__file__).parents[2]
# Before Ray is imported; its nodes and their workers inherit it.
os.environ |= {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
    "PYTHONPATH": str(ROOT),
}


@pytest.fixture
def cluster():
    """A head without work and two nodes of one core each; ``cluster.workers`` are these two."""
    import ray
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    cluster.workers = [cluster.add_node(num_cpus=1) for _ in range(2)]
    ray.init(address=cluster.address, logging_level="warning")
    cluster.wait_for_nodes()
    yield cluster
    ray.shutdown()
    cluster.shutdown()
