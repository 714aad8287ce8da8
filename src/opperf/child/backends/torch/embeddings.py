"""PARAM's batched embedding bags: those of FBGEMM, where its package is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from opperf.domain.backend import Layer, Unsupported

if TYPE_CHECKING:
    import torch

NAME = "SplitTableBatchedEmbeddingBagsCodegen"
#: The build's arguments that go by position, in PARAM's order.
POSITIONAL = ("num_tables", "rows", "dim", "pooling", "weighted", "weights_precision", "optimizer")


def build(arguments: Sequence[Any], keywords: Mapping[str, Any], device: torch.device) -> Layer:
    """Return the embedding bags that PARAM's arguments describe; raises `Unsupported` where FBGEMM is not there."""
    try:
        from fbgemm_gpu import split_table_batched_embeddings_ops_common as common
        from fbgemm_gpu import split_table_batched_embeddings_ops_training as training
        from fbgemm_gpu.split_embedding_configs import EmbOptimType, SparseType
    except (ImportError, OSError) as error:
        raise Unsupported(
            f"it needs the package fbgemm_gpu, which does not import here: {error}",
            slug="no_package",
            hint="`--environment fbgemm`",
        ) from error
    given = {**dict(zip(POSITIONAL, arguments)), **keywords}
    tables, cpu = given["num_tables"], device.type == "cpu"
    place = common.EmbeddingLocation.HOST if cpu else common.EmbeddingLocation.DEVICE
    kind = training.ComputeDevice.CPU if cpu else training.ComputeDevice.CUDA
    rows, sizes = (_each(given[name], tables) for name in ("rows", "dim"))
    more = {name: given[name] for name in ("eps", "weight_decay") if name in given}
    module = training.SplitTableBatchedEmbeddingBagsCodegen(
        [(row, size, place, kind) for row, size in zip(rows, sizes)],
        optimizer=EmbOptimType(given.get("optimizer", "exact_sgd")),
        pooling_mode=common.PoolingMode(given["pooling"]),
        weights_precision=SparseType(given["weights_precision"]),
        learning_rate=given.get("lr", 0.01),
        device=device,
        **more,
    )
    return Layer(module, tuple(module.parameters()))


def _each(value: Any, tables: int) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value] * tables
