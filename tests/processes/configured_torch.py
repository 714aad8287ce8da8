"""Builds tiny models by their configurations, runs them and follows them by shapes alone, and prints what differs.

The argument is the package that builds them.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.processes.abstract_torch import counted

from opperf.child.backends.torch import abstract, capture, configurations
from opperf.domain.call import CapturedCall
from opperf.domain.message.requests import Usage

DENSE: dict[str, Any] = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 16, "intermediate_size": 24,
    "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 32,
}  # fmt: skip
STATE_SPACE: dict[str, Any] = {
    "model_type": "mamba", "architectures": ["MambaForCausalLM"], "hidden_size": 8, "num_hidden_layers": 2,
    "intermediate_size": 16, "state_size": 4, "vocab_size": 32,
}  # fmt: skip
TRANSFORMER: dict[str, Any] = {
    "num_layers": 2, "num_attention_heads": 2, "attention_head_dim": 8, "sample_size": 8, "in_channels": 4,
}  # fmt: skip
PROMPT: dict[str, Any] = {"joint_attention_dim": 32, "pooled_projection_dim": 24}
CLASSES: dict[str, dict[str, Any]] = {
    "DiTTransformer2DModel": {**TRANSFORMER, "out_channels": 8},
    "PixArtTransformer2DModel": {**TRANSFORMER, "cross_attention_dim": 16, "caption_channels": 32},
    "SD3Transformer2DModel": {**TRANSFORMER, **PROMPT, "caption_projection_dim": 16},
    "FluxTransformer2DModel": {
        **PROMPT, "num_layers": 1, "num_single_layers": 1, "num_attention_heads": 2, "attention_head_dim": 8,
        "in_channels": 4, "guidance_embeds": True, "axes_dims_rope": [2, 4, 2],
    },
    "UNet2DModel": {
        "sample_size": 8, "layers_per_block": 1, "block_out_channels": [32, 64],
        "down_block_types": ["DownBlock2D", "AttnDownBlock2D"], "up_block_types": ["AttnUpBlock2D", "UpBlock2D"],
    },
    "UNet2DConditionModel": {
        "sample_size": 8, "layers_per_block": 1, "block_out_channels": [32, 64], "cross_attention_dim": 32,
        "down_block_types": ["DownBlock2D", "CrossAttnDownBlock2D"], "attention_head_dim": [2, 4],
        "up_block_types": ["CrossAttnUpBlock2D", "UpBlock2D"], "addition_embed_type": "text_time",
        "addition_time_embed_dim": 8, "projection_class_embeddings_input_dim": 80,
    },
}  # fmt: skip
#: Words enough for a first step of a scan, a last one, and several between.
WORDS = 7
MODELS = {
    "transformers": {
        "dense:train": (DENSE, Usage("train", 2, WORDS)),
        "state_space:prefill": (STATE_SPACE, Usage("prefill", 2, WORDS)),
        "state_space:decode": (STATE_SPACE, Usage("decode", 2, WORDS)),
        "state_space:train": (STATE_SPACE, Usage("train", 2, WORDS)),
    },
    "diffusers": {name: ({"_class_name": name, **sizes}, Usage("prefill", 2)) for name, sizes in CLASSES.items()},
}
#: The place that is selected: of the steps of a scan that are counted, it is that of the one which is walked.
INDEX = re.compile(r"'index': \d+")


def main() -> None:
    """Print for each model what only one of both captures has, or the calls of each phase that both have."""
    print(json.dumps({name: differing(*model) for name, model in MODELS[sys.argv[1]].items()}))


def differing(configuration: dict[str, Any], usage: Usage) -> object:
    """Return what only one of both captures has, or how many calls there are in each phase, and what was said."""
    torch.manual_seed(0)
    notes: dict[str, None] = {}
    run = configurations.phase(configurations.build(configuration, usage, notes.setdefault), usage, notes.setdefault)
    run()
    real = of_any_step(capture.of_call(run))
    shapes = of_any_step(abstract.of_call(lambda: configurations.load(configuration, usage, notes.setdefault)).calls)
    phases: Counter[str] = Counter()
    for (_, _, _, phase, _), count in shapes.items():
        phases[phase or "forward"] += count
    return [repr(call)[:600] for call in (real - shapes) + (shapes - real)] or [phases, [*notes]]


def of_any_step(calls: Iterable[CapturedCall]) -> Counter[Any]:
    """Return how often there is a call of each kind, whatever step of a scan it is of."""
    counts: Counter[Any] = Counter()
    for (*call, case), count in counted(calls).items():
        kind = (*call, INDEX.sub("'index': any", str(case)))
        counts[kind] += count
    return counts


if __name__ == "__main__":
    main()
