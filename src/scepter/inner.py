"""Functions that only compiled functions call: translated once, optimised with their callers.

Numba makes a library of each function it compiles: it optimises it with everything it calls, makes machine code and a wrapper
that Python can call, and keeps it on disk. A function four calls deep is optimised four times so, and of all that only the
outermost is ever used. `inner` stops behind LLVM's text: nothing is optimised, assembled, wrapped or kept, until the kernel
that Python calls is; that halves the time to compile (docs/benchmarks/start-up.md, decision 0105).

An array that is taken out of a NamedTuple is counted, by two locked instructions, which cost more than a look at one of its
elements. An inner function that neither makes nor returns an array only borrows what its caller holds, and counts nothing
(decision 0720).

Called from Python, an inner function is a TypeError. Interpreted (`compiled.INTERPRETED`) it is the function itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Generic, ParamSpec, TypeVar

from numba import njit, typeof
from numba.core import config
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, _LowerResult
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.ir import Assign, Expr, SetAttr, Yield
from numba.core.typed_passes import (
    AnnotateTypes,
    DumpParforDiagnostics,
    InlineOverloads,
    IRLegalization,
    NativeLowering,
    NopythonRewrites,
)
from numba.core.untyped_passes import (
    DeadBranchPrune,
    FindLiterallyCalls,
    InlineClosureLikes,
    LiteralPropagationSubPipelinePass,
    LiteralUnroll,
    MakeFunctionToJitFunction,
    RewriteDynamicRaises,
    RewriteSemanticConstants,
    WithLifting,
)

P = ParamSpec("P")
R = TypeVar("R")

_UNUSED = frozenset(
    (
        AnnotateTypes, DeadBranchPrune, DumpParforDiagnostics, FindLiterallyCalls, InlineClosureLikes, InlineOverloads,
        LiteralPropagationSubPipelinePass, LiteralUnroll, MakeFunctionToJitFunction, NopythonRewrites, RewriteDynamicRaises,
        RewriteSemanticConstants, WithLifting,
    )
)  # fmt: skip
"""Passes for what no inner function holds: closures, comprehensions, `with`, arithmetic of whole arrays, arguments that may be
None, exceptions made of values, literals that are unrolled. Each would go through the whole function again."""

_TAKING = frozenset(
    ("getattr", "static_getitem", "getitem", "build_tuple", "exhaust_iter", "getiter", "iternext", "pair_first")
)
"""Expressions that give a part of their operand, or several operands together: nothing that was not there."""


def inner(function: Callable[P, R]) -> Callable[P, R]:
    """A function that only compiled functions call."""
    made: Callable[P, R] = njit(pipeline_class=_Inner)(function)
    return made


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """An inner function of a hot loop whose code is put into its caller: for one that is called from one place, or is small.
    LLVM would call most of them, and a call hands over every pointer of a NamedTuple."""
    made: Callable[P, R] = njit(pipeline_class=_Inner, forceinline=True)(function)
    return made


def shared(function: Callable[P, R]) -> Callable[P, R]:
    """An inner function that Python calls too: for Python it is a kernel, made when it is first called."""
    return function if config.DISABLE_JIT else _Shared(function)  # type: ignore[attr-defined]


class _Shared(Generic[P, R]):
    def __init__(self, function: Callable[P, R]) -> None:
        self._inner = inner(function)  # its type holds it but weakly
        self._numba_type_ = typeof(self._inner)  # type: ignore[no-untyped-call]
        self._kernel: Callable[P, R] = njit(cache=True, nogil=True)(function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._kernel(*args, **kwargs)


def plain(named: tuple[Any, ...]) -> tuple[Any, ...]:
    """A NamedTuple, and those in it, as plain tuples. Numba asks every argument for its type at every call: a NamedTuple takes
    it some 2 µs, a plain tuple a tenth of that. So kernels that are called for single events are given plain ones.

    >>> from collections import namedtuple
    >>> plain(namedtuple("Side", "keys rows")(1, (2, 3)))
    (1, (2, 3))
    """
    return tuple([plain(each) if isinstance(each, tuple) else each for each in named])


class CompiledCodeCallsThis:
    """What Python would call. Numba wants a built-in function that no other function has, and calls it with a tuple of the
    arguments unchecked: `__format__`, bound to an object of its own, refuses every tuple."""


class _Unfinished(JITCodeLibrary):
    """Code that is linked into its callers' and does nothing else. Their optimisation sees it whole."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._finalized = True


@register_pass(mutates_CFG=False, analysis_only=False)  # type: ignore[no-untyped-call]
class _Borrowing(LoweringPass):
    """Counts no arrays where all of them are the caller's."""

    _name = "scepter_borrowing"

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]

    def run_pass(self, state: Any) -> bool:
        if not any(_is_counted(state, kind) for kind in (state.return_type, *_made(state))):
            state.targetctx = state.targetctx.subtarget(enable_nrt=False)
        return True


def _is_counted(state: Any, kind: Any) -> bool:
    counted: bool = state.targetctx.data_model_manager[kind].contains_nrt_meminfo()
    return counted


def _made(state: Any) -> Iterator[Any]:
    """The types of what a function does not take out of what it was given, and of what it puts into something."""
    for block in state.func_ir.blocks.values():
        for statement in block.body:
            if isinstance(statement, SetAttr):
                yield state.typemap[statement.value.name]
            elif isinstance(statement, Assign) and isinstance(statement.value, Yield):
                yield state.typemap[statement.value.value.name]
            elif isinstance(statement, Assign) and isinstance(statement.value, Expr) and statement.value.op not in _TAKING:
                yield state.typemap[statement.target.name]


@register_pass(mutates_CFG=True, analysis_only=False)  # type: ignore[no-untyped-call]
class _Linkable(LoweringPass):
    """Makes what was lowered known to callers, which numba does where it makes machine code."""

    _name = "scepter_linkable"

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]

    def run_pass(self, state: Any) -> bool:
        lowered = state.cr
        entry = CompiledCodeCallsThis().__format__
        state.targetctx.insert_user_function(entry, lowered.fndesc, [state.library])
        state.reload_init.extend(state.library._reload_init)
        state["cr"] = _LowerResult(lowered.fndesc, lowered.call_helper, cfunc=entry, env=lowered.env)
        return True


class _Inner(CompilerBase):
    """Numba's own passes that an inner function needs, up to LLVM's text."""

    def define_pipelines(self) -> list[Any]:
        state = self.state
        state.flags.no_compile = state.flags.no_cpython_wrapper = state.flags.no_cfunc_wrapper = True
        state.library = _Unfinished(state.targetctx.codegen(), state.func_id.func_qualname)  # type: ignore[no-untyped-call]
        passes = DefaultPassBuilder.define_nopython_pipeline(state)  # type: ignore[no-untyped-call]
        passes.add_pass_after(_Linkable, NativeLowering)
        passes.add_pass_after(_Borrowing, IRLegalization)
        passes.passes = [each for each in passes.passes if each[0] not in _UNUSED]
        passes.finalize()
        return [passes]
