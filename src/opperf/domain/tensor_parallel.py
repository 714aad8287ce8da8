"""What one of several devices has of the modules of a model, where its configuration has no size of a head.

Where it has one, fewer heads in the configuration make a model of the right shapes. Elsewhere the size of a head would
grow as their number falls, so the modules of the whole model are divided, as tensor parallelism divides them
(https://arxiv.org/abs/1909.08053): of layers that widen, each device has some of the outputs (columns), and of those
that narrow, some of the inputs (rows).
"""

from __future__ import annotations

from collections.abc import Mapping

from opperf.domain.dataclass import dataclass


@dataclass(frozen=True)
class Division:
    """What is divided of a module, by the names of its parts: by columns, by rows, parameters, and numbers."""

    columns: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Say what is divided how.

        >>> Division(("up",), ("down",)).text
        'a part of the outputs of up, the inputs of down'
        """
        parts = {"outputs": self.columns, "inputs": self.rows, "elements": self.parameters}
        return "a part of " + ", ".join(f"the {what} of {_joined(names)}" for what, names in parts.items() if names)


def _joined(names: tuple[str, ...]) -> str:
    """Return names as a sentence has them.

    >>> _joined(("query", "key", "value"))
    'query, key and value'
    """
    return " and ".join((*[", ".join(names[:-1])] * (len(names) > 1), names[-1]))


#: Attention of BERT and what came of it; its last layer is in another module.
_BERT_HEADS = Division(("query", "key", "value"), numbers=("num_attention_heads", "all_head_size"))
_BERT_OUTPUT = Division(rows=("dense",))
_BART = Division(("q_proj", "k_proj", "v_proj"), ("out_proj",), numbers=("num_heads",))
#: Each inner channel has a state of its own; only what is projected from all of them is added up between devices.
_MAMBA = Division(
    ("in_proj", "conv1d", "dt_proj"), ("x_proj", "out_proj"), ("A_log", "D"), ("intermediate_size",)
)  # fmt: skip

#: By the `model_type` of a configuration, and the class of a module.
DIVISIONS: Mapping[str, Mapping[str, Division]] = {
    "bert": {"BertSelfAttention": _BERT_HEADS, "BertSelfOutput": _BERT_OUTPUT},
    "roberta": {"RobertaSelfAttention": _BERT_HEADS, "RobertaSelfOutput": _BERT_OUTPUT},
    "bart": {"BartAttention": _BART},
    "whisper": {"WhisperAttention": _BART},
    "opt": {"OPTAttention": _BART},
    "mamba": {"MambaMixer": _MAMBA},
}
