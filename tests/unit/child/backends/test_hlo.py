"""The text of a compiled program, read as its instructions and how each is carried out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.each import each

from opperf.child.backends.jax.hlo import read, scopes, shapes

PROGRAM = """\
HloModule jit_f, is_scheduled=true, entry_computation_layout={(f32[8,8]{1,0})->f32[8,8]{1,0}}

FileNames
1 "f.py"

%region_0.1 (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  ROOT %add.9 = f32[] add(%a, %b), metadata={op_name="reduce_sum"}
}

%fused_computation (param_0: f32[8,8], param_1: f32[8]) -> f32[8,8] {
  %param_0 = f32[8,8]{1,0} parameter(0)
  %constant.1 = f32[] constant(0)
  %sub.0 = f32[8,8]{1,0} broadcast(%constant.1), dimensions={0}
  %sub.1 = f32[8,8]{1,0} subtract(%param_0, %sub.0)
  ROOT %exp.0 = f32[8,8]{1,0} exponential(%sub.1), metadata={op_name="jit(f)/exp" stack_frame_id=1}
}

%fused_computation.1 (param_0: f32[8,8], param_1: f32[8,8]) -> f32[8,8] {
  ROOT %dot.0 = f32[8,8]{1,0} dot(%param_0, %param_1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}

ENTRY %main.1 (x.1: f32[8,8]) -> (f32[8,8], f32[8]) {
  %x.1 = f32[8,8]{1,0} parameter(0), metadata={op_name="x"}
  %exp_fusion = f32[8,8]{1,0} fusion(%x.1), kind=kLoop, calls=%fused_computation
  %ynn_fusion = f32[8,8]{1,0} fusion(%x.1, %x.1), kind=kCustom, calls=%fused_computation.1, backend_config={"fusion_config":{"kind":"__ynn_fusion"}}
  %pair = (f32[8,8]{1,0}, u8[16]{0}) custom-call(%x.1), custom_call_target="__onednn$matmul", metadata={op_name="m"}
  %reduce.1 = f32[8]{0} reduce(%exp_fusion, %constant.1), dimensions={1}, to_apply=%region_0.1
  ROOT %tuple = (f32[8,8]{1,0}, f32[8]{0}) tuple(%ynn_fusion, %reduce.1)
}
"""  # noqa: E501 - XLA breaks no lines


def test_instructions_of_the_entry_are_named_with_what_carries_them_out() -> None:
    assert [(event.name, event.by) for event in read(PROGRAM)] == [
        ("subtract+exponential", "kLoop"),
        ("dot", "__ynn_fusion"),
        ("custom-call", "__onednn$matmul"),
        ("reduce", None),
    ]


def test_a_long_fusion_is_named_by_its_first_operations() -> None:
    body = "\n".join(f"  %{i} = f32[] op{i}(%p)" for i in range(9))
    fused = f"%f (p: f32[]) -> f32[] {{\n{body}\n}}\n"
    entry = "ENTRY %e (p: f32[]) -> f32[] {\n  ROOT %r = f32[] fusion(%p), calls=%f\n}\n"
    assert [event.name for event in read(fused + entry)] == ["op0+op1+op2+op3+op4+op5+..."]


@given(st.lists(st.sampled_from(PROGRAM.splitlines())), st.text())
def test_no_text_makes_the_reader_raise(lines: list[str], more: str) -> None:
    assert all(event.name for event in read("\n".join([*lines, more])))


def test_operands_have_the_shapes_of_what_defines_them() -> None:
    result = shapes(PROGRAM)
    assert result["ynn_fusion"] == ((8, 8), (8, 8))
    assert result["dot.0"][0] == (8, 8)
    assert result["reduce.1"] == ((8, 8), ())
    assert result["tuple"] == ((8, 8), (8,))
    assert result["x.1"] == ()


@each(
    ("origin", "scope"),
    [
        ("jit(step)/jvp(MLP)/Dense_0/dot_general", ("MLP.Dense_0", False)),
        ("jit(step)/transpose(jvp(MLP))/second/Dense_0/transpose", ("MLP.second.Dense_0", True)),
        ("jit(step)/transpose(jvp())/mul;jit(step)/jvp(MLP)/add", ("", True)),
        ("jit(step)/jvp(MLP)/Block_0/jit(relu)/max", ("MLP.Block_0", False)),
        ("jit(f)/vmap(while)/body/closed_call/RNN/branch_1_fun/add", ("RNN", False)),
        ("jit(f)/Net/blocks.0.fc/dot_general", ("Net.blocks.0.fc", False)),
        ("jit(f)/exp", ("", False)),
        ("x", ("", False)),
    ],
)
def test_the_scope_of_an_instruction_is_the_module_that_it_comes_from(origin: str, scope: tuple[str, bool]) -> None:
    line = f'  ROOT %dot.1 = f32[8]{{0}} dot(%a, %b), metadata={{op_type="d" op_name="{origin}" stack_frame_id=1}}'
    assert scopes(line) == {"dot.1": scope}
