"""Builds a model by its configuration, with `transformers` or `diffusers`, and calls it in one of its phases.

A configuration is data: its names are looked up among the classes of these packages, none of its code is loaded, and
nothing is downloaded.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TypeAlias

import torch

from opperf.child.backends.torch.specs import DTYPES
from opperf.domain.errors import InputError, unknown
from opperf.domain.message.requests import Usage

Configuration: TypeAlias = Mapping[str, Any]
#: Samples of sound in a second, for models that hear them.
SAMPLES = 16_000


def load(configuration: Configuration, usage: Usage) -> Callable[[], Any]:
    """Return a phase of a model as a function; raises `InputError` for one that there is not."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    if "_class_name" in configuration:
        return _denoising(configuration, usage)
    model = _build(configuration, usage)
    training = usage.phase == "train"
    model.train(training)
    inputs = _inputs(model, usage)
    if training:
        return _training(model, inputs)
    if usage.phase == "decode":
        return _decoding(model, inputs, usage)
    return lambda: _without_graph(model, use_cache=_generates(model), **inputs)


def _build(configuration: Configuration, usage: Usage) -> Any:
    import transformers
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    transformers.logging.set_verbosity_error()
    values = dict(configuration)
    kind, name = values.pop("model_type"), configuration["architectures"][0]
    if kind not in CONFIG_MAPPING:
        raise unknown("model_type", kind, list(CONFIG_MAPPING.keys()), hint=_newer("transformers", transformers))
    if usage.split > 1 and not hasattr(CONFIG_MAPPING[kind](), "head_dim"):
        raise InputError(
            f"`--split`: models of type `{kind}` derive the size of a head from the number of heads",
            hint="only models whose configuration has `head_dim` are divided",
        )
    cls: Any = getattr(transformers, name, None)
    if not _is_model(cls, transformers.PreTrainedModel):
        names = [own for own in dir(transformers) if own.startswith(name[:4])]
        raise unknown("architecture", name, names, hint=_newer("transformers", transformers))
    dtype = usage.dtype or values.get("dtype") or values.get("torch_dtype") or "float32"
    if dtype not in DTYPES:
        raise InputError(f"no element type `{dtype}`", hint=f"known: {', '.join(DTYPES)}")
    try:
        settings = CONFIG_MAPPING[kind](**values)
        with _default_dtype(DTYPES[dtype]):
            return cls._from_config(settings)
    except (ValueError, TypeError, AttributeError, KeyError, ZeroDivisionError, AssertionError) as error:
        raise InputError(f"`{name}` cannot be built: {_headline(error)}", hint="look at the sizes") from error
    except Exception as error:
        if type(error).__name__.startswith("Strict"):  # of a package that checks types, and is not imported here
            raise InputError(f"`{name}` cannot be built: {_headline(error)}", hint="look at the sizes") from error
        raise


def _is_model(value: Any, base: type) -> bool:
    return inspect.isclass(value) and issubclass(value, base)


def _newer(package: str, module: Any) -> str:
    return f"{package} {module.__version__} does not know it; name another with `--environment`"


def _headline(error: Exception) -> str:
    text = str(error).strip()
    return (text.splitlines()[0] if text else type(error).__name__)[:200]


@contextmanager
def _default_dtype(dtype: torch.dtype) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def _generates(model: Any) -> bool:
    """Whether a model writes word by word, so that it has a cache to go on from."""
    name = type(model).__name__
    return name.endswith(("ForCausalLM", "LMHeadModel")) or model.config.is_encoder_decoder


def _inputs(model: Any, usage: Usage) -> dict[str, Any]:
    """Return the inputs of a model: words, pictures or sound, and what it has written so far."""
    config, batch = model.config, usage.batch
    text = config.get_text_config() if hasattr(config, "get_text_config") else config
    words = getattr(text, "vocab_size", 1)
    parameter = next(model.parameters())
    most = getattr(text, "max_position_embeddings", None) or usage.context

    def written(length: int) -> torch.Tensor:
        return torch.randint(0, words, (batch, length))

    if model.main_input_name == "pixel_values":
        size = config.image_size
        edges = size if isinstance(size, (list, tuple)) else (size, size)
        return {"pixel_values": torch.rand(batch, config.num_channels, *edges, dtype=parameter.dtype)}
    if model.main_input_name == "input_features":
        frames = 2 * config.max_source_positions
        length = min(usage.context, config.max_target_positions)
        return {
            "input_features": torch.rand(batch, config.num_mel_bins, frames, dtype=parameter.dtype),
            "decoder_input_ids": written(length),
        }
    if model.main_input_name == "input_values":
        return {"input_values": torch.rand(batch, SAMPLES, dtype=parameter.dtype)}
    if model.main_input_name != "input_ids":
        raise InputError(
            f"`{type(model).__name__}` takes `{model.main_input_name}`, which opperf does not know",
            hint="write a function that calls it, and capture that with `--abstract`",
        )
    if usage.context > most and not hasattr(text, "rope_parameters"):
        raise InputError(f"`--context {usage.context}`: the model has {most} positions", hint=f"`--context {most}`")
    inputs = {"input_ids": written(usage.context)}
    return {**inputs, "decoder_input_ids": written(usage.context)} if config.is_encoder_decoder else inputs


def _without_graph(model: Any, **inputs: Any) -> Any:
    with torch.no_grad():
        return model(**inputs)


def _training(model: Any, inputs: Mapping[str, Any]) -> Callable[[], Any]:
    """Return a forward and its backward: of the model's own loss where it has one of words, else of a sum."""
    words = inputs.get("decoder_input_ids", inputs.get("input_ids"))
    has_loss = words is not None and type(model).__name__.endswith(
        ("ForCausalLM", "LMHeadModel", "ForMaskedLM", "ForConditionalGeneration")
    )
    labels = {"labels": words} if has_loss else {}

    def step() -> None:
        model.zero_grad()
        out = model(**inputs, **labels)
        (out["loss"] if labels else out[0].float().sum()).backward()

    return step


def _decoding(model: Any, inputs: Mapping[str, Any], usage: Usage) -> Callable[[], Any]:
    """Return the writing of one word, behind as many as the context has: the first call writes the last of these."""
    if not _generates(model):
        raise InputError(
            f"`--phase decode`: `{type(model).__name__}` does not write word by word", hint="`--phase prefill`"
        )
    words = "decoder_input_ids" if "decoder_input_ids" in inputs else "input_ids"
    before = inputs[words].shape[1] - 1
    if before < 1:
        raise InputError("`--phase decode` needs a context of 2 words or more", hint="`--context 4096`")
    start = _without_graph(model, use_cache=True, **{**inputs, words: inputs[words][:, :before]})
    cache = next(key for key in ("past_key_values", "cache_params") if start.get(key) is not None)
    step = {words: inputs[words][:, :1], cache: start[cache]}
    if "encoder_last_hidden_state" in start:
        step["encoder_outputs"] = (start["encoder_last_hidden_state"],)
    return lambda: _without_graph(model, use_cache=True, **step)


def _denoising(configuration: Configuration, usage: Usage) -> Callable[[], Any]:
    """Return one step of a diffusion model, which makes a noisy image less so."""
    import diffusers

    name = configuration["_class_name"]
    if name != "UNet2DConditionModel":
        raise InputError(f"no diffusion model `{name}`", hint="known: UNet2DConditionModel")
    if usage.phase == "decode" or usage.split > 1:
        raise InputError(f"`{name}` is neither divided nor decoded", hint="`--phase prefill` is one step of denoising")
    dtype = DTYPES[usage.dtype or "float32"]
    with _default_dtype(dtype):
        model = diffusers.UNet2DConditionModel.from_config(dict(configuration))
    model.train(usage.phase == "train")
    size = model.config.sample_size
    images = torch.rand(usage.batch, model.config.in_channels, size, size, dtype=dtype)
    text = torch.rand(usage.batch, 77, model.config.cross_attention_dim, dtype=dtype)
    scope: Callable[[], AbstractContextManager[object]] = nullcontext if usage.phase == "train" else torch.no_grad

    def step() -> None:
        with scope():
            out = model(images, 10, encoder_hidden_states=text)[0]
        if usage.phase == "train":
            model.zero_grad()
            out.float().square().mean().backward()

    return step
