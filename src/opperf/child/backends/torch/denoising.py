"""Diffusion models by their configurations, built by `diffusers`, and what they take to make images less noisy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import torch

from opperf.domain.errors import unknown

#: Numbers of a model by name, as its package completes them.
Sizes: TypeAlias = Any
Inputs: TypeAlias = Mapping[str, Any]
#: Words of a prompt as the models were published with them: those of CLIP, of T5, and of both one after the other.
CLIP_WORDS, T5_WORDS, FLUX_WORDS = 77, 256, 512
#: Edge of the latents of an image of 1024 by 1024, and that of a square of them which is one place of the model.
LATENT_EDGE, PACKED_EDGE = 128, 2
#: Where in the process of denoising: any step takes the same.
STEP = 10


def build(configuration: Mapping[str, Any]) -> Any:
    """Return the model; raises `InputError` for a class that is not known, and what the package says of sizes."""
    import diffusers

    name = configuration["_class_name"]
    if name not in INPUTS:
        raise unknown("architecture", name, INPUTS, hint=f"known: {', '.join(INPUTS)}")
    return getattr(diffusers, name).from_config(dict(configuration))


def inputs(model: Any, batch: int, dtype: torch.dtype, note: Callable[[str], None]) -> Inputs:
    """Return the arguments of a step, and note which image and prompt that is."""
    values, text = INPUTS[type(model).__name__](model.config, batch, dtype)
    note(text)
    return {"return_dict": False, **values}


def _image(sizes: Sizes, batch: int, dtype: torch.dtype) -> tuple[torch.Tensor, str]:
    size = sizes.sample_size
    height, width = size if isinstance(size, (list, tuple)) else (size, size)
    text = f"one step of {sizes.in_channels} channels of {height} by {width}"
    return torch.rand(batch, sizes.in_channels, height, width, dtype=dtype), text


def _unconditional(sizes: Sizes, batch: int, dtype: torch.dtype) -> tuple[Inputs, str]:
    image, text = _image(sizes, batch, dtype)
    return {"sample": image, "timestep": STEP}, text


def _conditional(sizes: Sizes, batch: int, dtype: torch.dtype) -> tuple[Inputs, str]:
    image, text = _image(sizes, batch, dtype)
    width = sizes.cross_attention_dim
    width = width[0] if isinstance(width, (list, tuple)) else width
    values = {
        "sample": image,
        "timestep": STEP,
        "encoder_hidden_states": torch.rand(batch, CLIP_WORDS, width, dtype=dtype),
    }
    if sizes.addition_embed_type == "text_time":  # six numbers say how the image was cut, and what is left is a text
        times = 6
        pooled = sizes.projection_class_embeddings_input_dim - times * sizes.addition_time_embed_dim
        values["added_cond_kwargs"] = {
            "text_embeds": torch.rand(batch, pooled, dtype=dtype),
            "time_ids": torch.rand(batch, times, dtype=dtype),
        }
    return values, f"{text}, and a prompt of {CLIP_WORDS} words"


def _classified(sizes: Sizes, batch: int, dtype: torch.dtype) -> tuple[Inputs, str]:
    image, text = _image(sizes, batch, dtype)
    steps = torch.full((batch,), STEP)
    return {"hidden_states": image, "timestep": steps, "class_labels": torch.zeros(batch, dtype=torch.int64)}, text


def _pixart(sizes: Sizes, batch: int, dtype: torch.dtype) -> tuple[Inputs, str]:
    image, text = _image(sizes, batch, dtype)
    width = sizes.caption_channels or sizes.cross_attention_dim
    conditions = {"resolution": None, "aspect_ratio": None}
    if sizes.sample_size == LATENT_EDGE:
        conditions = {
            "resolution": torch.rand(batch, 2, dtype=dtype),
            "aspect_ratio": torch.rand(batch, 1, dtype=dtype),
        }
    values = {
        "hidden_states": image,
        "timestep": torch.full((batch,), STEP),
        "encoder_hidden_states": torch.rand(batch, T5_WORDS, width, dtype=dtype),
        "added_cond_kwargs": conditions,
    }
    return values, f"{text}, and a prompt of {T5_WORDS} words"


def _joint(sizes: Sizes, batch: int, dtype: torch.dtype) -> tuple[Inputs, str]:
    image, text = _image(sizes, batch, dtype)
    words = CLIP_WORDS + T5_WORDS
    return {"hidden_states": image, **_prompt(sizes, batch, words, dtype)}, f"{text}, and a prompt of {words} words"


def _patches(sizes: Sizes, batch: int, dtype: torch.dtype) -> tuple[Inputs, str]:
    places = (LATENT_EDGE // PACKED_EDGE) ** 2
    guidance = {"guidance": torch.rand(batch, dtype=dtype)} if sizes.guidance_embeds else {}
    values = {
        "hidden_states": torch.rand(batch, places, sizes.in_channels, dtype=dtype),
        **_prompt(sizes, batch, FLUX_WORDS, dtype),
        "img_ids": torch.rand(places, 3, dtype=dtype),
        "txt_ids": torch.rand(FLUX_WORDS, 3, dtype=dtype),
        **guidance,
    }
    return values, f"one step of {places} places of an image of 1024 by 1024, and a prompt of {FLUX_WORDS} words"


def _prompt(sizes: Sizes, batch: int, words: int, dtype: torch.dtype) -> Inputs:
    return {
        "encoder_hidden_states": torch.rand(batch, words, sizes.joint_attention_dim, dtype=dtype),
        "pooled_projections": torch.rand(batch, sizes.pooled_projection_dim, dtype=dtype),
        "timestep": torch.full((batch,), float(STEP), dtype=dtype),
    }


#: How the inputs of each known class are made, with the words for what they are.
INPUTS: Mapping[str, Callable[[Sizes, int, torch.dtype], tuple[Inputs, str]]] = {
    "UNet2DModel": _unconditional,
    "UNet2DConditionModel": _conditional,
    "DiTTransformer2DModel": _classified,
    "PixArtTransformer2DModel": _pixart,
    "SD3Transformer2DModel": _joint,
    "FluxTransformer2DModel": _patches,
}
