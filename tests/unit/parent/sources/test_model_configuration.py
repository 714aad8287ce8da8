"""Configurations of models: what is read of them, and what one of several devices has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from opperf.domain.errors import InputError
from opperf.domain.message.requests import Usage
from opperf.parent.sources.model_configuration import LONGEST, divide, read, usage_of, workload

WORKLOADS = Path(__file__).resolve().parents[4] / "examples" / "workloads"
DENSE: dict[str, Any] = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 64,
    "num_hidden_layers": 4,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "intermediate_size": 96,
    "vocab_size": 128,
}


def written(folder: Path, **changes: object) -> Path:
    """A configuration with some keys changed, and those without a value left out."""
    path = folder / "config.json"
    path.write_text(json.dumps({key: value for key, value in {**DENSE, **changes}.items() if value is not None}))
    return path


@pytest.mark.parametrize("path", sorted(WORKLOADS.glob("*.json")), ids=lambda path: str(path.stem))
def test_every_workload_is_read_as_it_is(path: Path) -> None:
    model = read(path, Usage())
    assert (model.name, model.assumed) == (path.stem, ())
    assert model.configuration == json.loads(path.read_text())
    assert model.library == ("diffusers" if path.stem.startswith("diffusion") else "transformers")


def test_a_file_of_the_hub_goes_by_its_folder(tmp_path: Path) -> None:
    assert read(written(tmp_path), Usage()).name == tmp_path.name


def test_one_of_several_devices_has_its_part_of_heads_columns_and_words(tmp_path: Path) -> None:
    model = read(written(tmp_path, pad_token_id=127, num_experts=4), Usage(split=4, layers="one"))
    sizes = {key: model.configuration[key] for key in (*DENSE, "head_dim", "pad_token_id", "num_experts")}
    assert sizes == {
        **DENSE,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "intermediate_size": 24,
        "vocab_size": 32,
        "head_dim": 8,
        "pad_token_id": None,
        "num_experts": 4,
    }
    sizes_told = "num_attention_heads 8 to 2, intermediate_size 96 to 24, vocab_size 128 to 32"
    assert model.assumed == (
        "one layer of each stack: the first",
        f"one of 4 devices: {sizes_told}; what devices exchange is not in the suite",
        "`num_key_value_heads` is 2, so 2 devices hold a copy of each",
        "each device holds a part of every expert",
    )


def test_what_names_code_or_packs_weights_is_left_out(tmp_path: Path) -> None:
    model = read(written(tmp_path, auto_map={"AutoModel": "evil.py"}, quantization_config={"bits": 4}), Usage())
    assert model.configuration == DENSE
    assert model.assumed == ("left out of the configuration: auto_map, quantization_config",)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model_type": None}, "`model_type` is null, expected the name of a kind of model"),
        ({"architectures": []}, "`architectures` is [], expected a list of a class"),
        ({"hidden_size": None}, "no `hidden_size` or `d_model` or `n_embd`"),
        ({"num_hidden_layers": None}, "no `num_hidden_layers` or `n_layer` or `num_layers`"),
        ({"num_hidden_layers": 10**9}, "`num_hidden_layers` is 1000000000, expected a whole number from 1 to 1,000"),
        ({"hidden_size": "64"}, '`hidden_size` is "64", expected a whole number from 1 to 2,147,483,648'),
        ({"vocab_size": -1}, "`vocab_size` is -1, expected"),
        ({"text_config": 3}, "`text_config` is 3, expected an object"),
        ({"text_config": {"vocab_size": 0}}, "`text_config.vocab_size` is 0, expected"),
    ],
)
def test_a_configuration_that_is_none_is_refused_with_the_key(
    changes: dict[str, object], message: str, tmp_path: Path
) -> None:
    path = written(tmp_path, **changes)
    with pytest.raises(InputError) as refusal:
        read(path, Usage())
    assert refusal.value.message.startswith(f"{path}: {message}")


def test_a_file_that_is_too_long_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    with path.open("wb") as file:
        file.truncate(100 << 20)
    with pytest.raises(InputError, match=f"104,857,600 bytes, expected a configuration of at most {LONGEST:,}"):
        read(path, Usage())
    path.write_text("{")
    with pytest.raises(InputError, match=r"config\.json: "):
        read(path, Usage())
    with pytest.raises(InputError, match="no file"):
        read(tmp_path / "missing.json", Usage())


def test_modules_that_are_divided_once_they_are_built_keep_their_heads() -> None:
    encoder = {"model_type": "bert", "hidden_size": 64, "num_attention_heads": 8, "intermediate_size": 96}
    divided, notes = divide(encoder, 4, "c")
    assert divided == {**encoder, "intermediate_size": 24}
    sizes = "num_attention_heads 8 to 2, intermediate_size 96 to 24"
    assert notes == [
        f"one of 4 devices: {sizes}; what devices exchange is not in the suite",
        "each device has of BertSelfAttention: a part of the outputs of query, key and value",
        "each device has of BertSelfOutput: a part of the inputs of dense",
    ]
    speech = {"model_type": "whisper", "d_model": 64, "encoder_attention_heads": 8, "decoder_ffn_dim": 96}
    assert divide(speech, 2, "c")[0] == {**speech, "decoder_ffn_dim": 48}
    channels = {"model_type": "mamba", "hidden_size": 64, "intermediate_size": 128, "vocab_size": 100}
    assert divide(channels, 2, "c")[0] == {**channels, "vocab_size": 50}
    with pytest.raises(InputError, match="`encoder_attention_heads` is 8, which 3 devices cannot share"):
        divide(speech, 3, "c")
    with pytest.raises(InputError, match="`vocab_size` is 100, which 8 devices cannot share") as refusal:
        divide(channels, 8, "c")
    assert refusal.value.hint == '`--split` a divisor of it, or pad it, as servers do: write `"vocab_size": 104`'


def test_a_size_of_a_head_in_the_file_stays() -> None:
    configuration = {"model_type": "t5", "d_model": 64, "num_heads": 8, "d_kv": 16, "d_ff": 96}
    assert divide(configuration, 2, "c")[0] == {**configuration, "num_heads": 4, "d_ff": 48}


@pytest.mark.parametrize(
    ("split", "changes", "message"),
    [
        (3, {}, "c: `num_attention_heads` is 8, which 3 devices cannot share"),
        (4, {"num_key_value_heads": 3}, "c: `num_key_value_heads` is 3, which 4 devices cannot share"),
        (2, {"vocab_size": 127}, "c: `vocab_size` is 127, which 2 devices cannot share"),
        (2, {"num_attention_heads": None}, "c: `--split` needs heads to divide, and there is no `num_attention_heads`"),
    ],
)
def test_sizes_that_devices_cannot_share_are_refused(split: int, changes: dict[str, object], message: str) -> None:
    configuration = {key: value for key, value in {**DENSE, **changes}.items() if value is not None}
    with pytest.raises(InputError) as refusal:
        divide(configuration, split, "c")
    assert refusal.value.message == message


def test_a_workload_goes_by_its_name_and_phase() -> None:
    path, usage = workload("grouped_query_8b:decode")
    assert (path, usage) == (WORKLOADS / "grouped_query_8b.json", Usage("decode"))
    assert workload("encoder_base")[1] == Usage()
    with pytest.raises(InputError, match="no workload `grouped`"):
        workload("grouped")
    with pytest.raises(InputError, match="expected prefill or decode or train"):
        workload("encoder_base:sleep")


def test_how_a_model_is_called_is_checked() -> None:
    assert usage_of("decode", 8, 4096, "bf16", 2, "one") == Usage("decode", 8, 4096, "bfloat16", 2, "one")
    for words in (("sleep", 1, 1, None, 1, "all"), ("train", 0, 1, None, 1, "all"), ("train", 1, 1, None, 1, "two")):
        with pytest.raises(InputError, match="expected"):
            usage_of(*words)
    with pytest.raises(InputError, match="no dtype"):
        usage_of("train", 1, 1, "bf61", 1, "all")
