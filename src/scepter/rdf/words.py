"""What kernels ask of the machine beyond NumPy: a word from any offset, the address of an element, trailing zeros, new columns,
whether to stop.

Each exists twice. Compiled, it is an instruction or two. Interpreted (`NUMBA_DISABLE_JIT=1`, which small first runs choose, see
`scepter.compiled`), it is Python over arrays: an address is a view of what follows, so that an index out of bounds is an error.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic
from numba.np.arrayobj import _empty_nd_impl

from scepter.compiled import (
    doubt_files,
    look_behind_imports,
    spare_collections,
    spare_colours,
    spare_events,
    spare_lookups,
    spare_pickles,
    spare_walks,
)

MOST, STOPPED, ERROR = 0, 1, 2
"""What `heed` looks at: how many rows may be made; whether the kernel was stopped, and by what; three references to the error
that a handler raised, which belong to whoever raises it again."""
STOPPED_BY_SIGNAL, STOPPED_BY_ROWS, STOPPED_BY_MEMORY = 1, 2, 3

_SPARE = 1 << 16

doubt_files()  # before the first kernel is declared: every module of kernels comes by here
look_behind_imports()
spare_collections()
spare_lookups()
spare_events()
spare_colours()
spare_pickles()
spare_walks()


def _element(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    data = args[0]
    if isinstance(signature.args[0], types.Array):
        data = context.make_array(signature.args[0])(context, builder, data).data
    return builder.gep(data, [args[1]])


def _load_word(typing_context: Any, data: Any, index: Any) -> Any:
    """Eight bytes from any offset of a byte array, or behind a pointer, as one little-endian word. The caller keeps within."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = builder.bitcast(_element(context, builder, signature, args), ir.IntType(64).as_pointer())
        return builder.load(address, align=1)

    return types.uint64(data, types.int64), generate


def _store_word(typing_context: Any, data: Any, index: Any, word: Any) -> Any:
    """Eight bytes to any offset of a byte array, from one little-endian word. The caller keeps within."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = builder.bitcast(_element(context, builder, signature, args), ir.IntType(64).as_pointer())
        builder.store(args[2], address, align=1)
        return context.get_dummy_value()

    return types.void(data, types.int64, types.uint64), generate


def _pointer(typing_context: Any, array: Any, index: Any) -> Any:
    """The address of an array's element, to be indexed like the array. Numba counts references of arrays at every call, which
    costs more than the work on a term; a pointer is free. Whoever takes one keeps the array alive: it must be an argument of
    the kernel that Python called."""
    kind: Any = types.CPointer
    return kind(array.dtype)(array, types.int64), _element


def _trailing_zeros(typing_context: Any, word: Any) -> Any:
    """How many zero bits a word that is not 0 ends with."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], cgutils.true_bit)

    return types.int64(types.uint64), generate


def _fresh(typing_context: Any, shape: Any, kind: Any) -> Any:
    """`np.empty` of one or two dimensions. Numba compiles its own for each kind of number and of shape, as functions of three
    layers, and a kernel that makes columns pays that more often than its own code; this one is a call of the allocator."""
    array: Any = types.Array(kind.dtype, shape.count if isinstance(shape, types.UniTuple) else 1, "C")

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _allotted(context, builder, signature, args)._getvalue()

    return array(shape, kind), generate


def _zeroed(typing_context: Any, shape: Any, kind: Any) -> Any:
    """`np.zeros`, like `_fresh`."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        made = _allotted(context, builder, signature, args)
        cgutils.memset(builder, made.data, builder.mul(made.itemsize, made.nitems), 0)  # type: ignore[no-untyped-call]
        return made._getvalue()

    return _fresh(typing_context, shape, kind)[0], generate


def _heed(typing_context: Any, cells: Any, rows: Any) -> Any:
    """Whether the kernel is to return now, whatever it gives: what stopped it stands in `cells` and is raised behind it
    (`kernel/interrupts`). A handler of a signal that came has raised: of the timer of a limit, or of Ctrl-C, which Python would
    hear when the kernel is done, and one kernel may have hours of work with the events of one instant. Or it has made more
    rows than it may. For kernels that keep the interpreter's lock."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = ir.IntType(8).as_pointer().as_pointer()

        def cell(place: int) -> Any:
            return _element(context, builder, signature, (args[0], ir.IntType(64)(place)))

        def c_function(name: str, kind: Any) -> Any:
            return cgutils.get_or_insert_function(builder.module, kind, name)  # type: ignore[no-untyped-call]

        beyond = builder.icmp_signed(">", args[1], builder.load(cell(MOST)))
        with cgutils.if_unlikely(builder, beyond):  # type: ignore[no-untyped-call]
            builder.store(ir.IntType(64)(STOPPED_BY_ROWS), cell(STOPPED))
        asked = builder.call(c_function("PyErr_CheckSignals", ir.FunctionType(ir.IntType(32), ())), ())
        raised = builder.icmp_signed("!=", asked, asked.type(0))
        with cgutils.if_unlikely(builder, raised):  # type: ignore[no-untyped-call]
            taken = [builder.bitcast(cell(ERROR + part), pointer) for part in range(3)]
            builder.call(c_function("PyErr_Fetch", ir.FunctionType(ir.VoidType(), [pointer] * 3)), taken)
            builder.store(ir.IntType(64)(STOPPED_BY_SIGNAL), cell(STOPPED))
        return builder.or_(beyond, raised)

    return types.boolean(cells, types.int64), generate


def _lacks(typing_context: Any, cells: Any, size: Any) -> Any:
    """Whether so many bytes are not to be had: then the kernel is to return, as `heed` has it. Compiled code in which an
    allocation fails lets go of nothing it was given, so what grows asks before it does. They are asked for and given back, a
    little more of them than are needed, untouched."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = ir.IntType(64)
        asked = context.nrt.allocate_unchecked(builder, builder.add(args[1], word(_SPARE)))
        missing = cgutils.is_null(builder, asked)  # type: ignore[no-untyped-call]
        with cgutils.if_unlikely(builder, missing):  # type: ignore[no-untyped-call]
            builder.store(word(STOPPED_BY_MEMORY), _element(context, builder, signature, (args[0], word(STOPPED))))
        context.nrt.free(builder, asked)
        return missing

    return types.boolean(cells, types.int64), generate


def _allotted(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    shape, kind = args[0], signature.args[0]
    sizes = [shape]
    if isinstance(kind, types.UniTuple):
        sizes, kind = cgutils.unpack_tuple(builder, shape), kind.dtype  # type: ignore[no-untyped-call]
    sizes = [context.cast(builder, size, kind, types.intp) for size in sizes]
    return _empty_nd_impl(context, builder, signature.return_type, sizes)  # type: ignore[no-untyped-call]


def word_at(data: Any, index: Any) -> np.uint64:
    """`load_word`, interpreted. Behind the last byte of a view stands what it was padded with: line feeds.

    >>> hex(word_at(np.arange(9, dtype=np.uint8), 1)), hex(word_at(np.arange(9, dtype=np.uint8), 7))
    ('0x807060504030201', '0xa0a0a0a0a0a0807')
    """
    if not 0 <= index <= len(data):
        raise IndexError(f"a word at {index} of {len(data)} bytes")
    return np.uint64(int.from_bytes(data[index : index + 8].tobytes().ljust(8, b"\n"), "little"))


def put_word(data: Any, index: Any, word: Any) -> None:
    """`store_word`, interpreted.

    >>> data = np.zeros(9, np.uint8)
    >>> put_word(data, 1, np.uint64(0x0807060504030201))
    >>> data.tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 8]
    """
    if not 0 <= index <= len(data) - 8:
        raise IndexError(f"a word to {index} of {len(data)} bytes")
    data[index : index + 8] = np.frombuffer(int(word).to_bytes(8, "little"), np.uint8)


def view_from(array: Any, index: Any) -> Any:
    """`pointer`, interpreted.

    >>> view_from(np.array([[1, 2], [3, 4]]), 1)
    array([2, 3, 4])
    """
    return array.reshape(-1)[index:]


def heeded(cells: Any, rows: Any) -> bool:
    """`heed`, interpreted: Python hears signals all the time.

    >>> cells = np.array([5, 0, 0, 0, 0])
    >>> heeded(cells, 5), heeded(cells, 6), bool(cells[STOPPED] == STOPPED_BY_ROWS)
    (False, True, True)
    """
    if rows > cells[MOST]:
        cells[STOPPED] = STOPPED_BY_ROWS
        return True
    return False


def lacked(cells: Any, size: Any) -> bool:
    """`lacks`, interpreted: Python lets go of everything when an allocation fails."""
    return False


def zeros_behind(word: Any) -> int:
    """`trailing_zeros`, interpreted.

    >>> zeros_behind(np.uint64(24))
    3
    """
    bits = int(word)
    return (bits & -bits).bit_length() - 1


load_word: Any
store_word: Any
pointer: Any
trailing_zeros: Any
fresh: Any
zeroed: Any
heed: Any
lacks: Any
if config.DISABLE_JIT:  # type: ignore[attr-defined]
    np.seterr(all="ignore")  # hashes wrap around, 0 * inf is nan: as compiled, without a word
    load_word, store_word, pointer, trailing_zeros = word_at, put_word, view_from, zeros_behind
    fresh, zeroed, heed, lacks = np.empty, np.zeros, heeded, lacked
else:
    # mypy sees a decorated intrinsic with its typing context as a parameter
    load_word, pointer, trailing_zeros = intrinsic(_load_word), intrinsic(_pointer), intrinsic(_trailing_zeros)
    store_word, fresh, zeroed = intrinsic(_store_word), intrinsic(_fresh), intrinsic(_zeroed)
    heed, lacks = intrinsic(_heed), intrinsic(_lacks)
