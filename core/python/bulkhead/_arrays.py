# SPDX-License-Identifier: Apache-2.0
"""Turns arrays of the library into tensors or arrays for the caller, without a copy.

They are torch tensors if torch is installed, else numpy arrays, else `_core.Array`,
which memoryview() reads. torch and numpy are imported for the first picture. If one
is installed and broken, its ImportError is raised; the other is not used instead.

torch before 2.3 has no types for the numbers of native frames of more than 8 bits.
These frames are numpy arrays then, as without torch.
"""

import functools
import importlib.util


@functools.cache
def torch():
    """Returns the module torch, or None if it is not installed."""
    return _module("torch")


@functools.cache
def numpy():
    """Returns the module numpy, or None if it is not installed."""
    return _module("numpy")


def _module(name):
    spec = importlib.util.find_spec(name)
    # A directory of that name somewhere on sys.path has no origin.
    if spec is None or spec.origin is None:
        return None
    return importlib.import_module(name)


def tensor(array):
    """Returns the array as a tensor. Returns native(array) if torch is not installed or
    has no such type of numbers."""
    module = torch()
    dtype = None if module is None else getattr(module, array.dtype, None)
    if dtype is None:
        return native(array)
    if 0 in array.shape:
        return module.empty(array.shape, dtype=dtype)
    return module.frombuffer(array, dtype=dtype).view(array.shape)


def native(array):
    """Returns the array as a numpy array, or unchanged if numpy is not installed."""
    module = numpy()
    return array if module is None else module.asarray(array)


def doubles(values):
    """Returns a list of floats as a tensor or array of float64."""
    if torch() is not None:
        return torch().tensor(values, dtype=torch().float64)
    if numpy() is not None:
        return numpy().array(values, dtype=numpy().float64)
    return values


def channels_first(data):
    """Returns [..., H, W, C] as [..., C, H, W]: a view, never a copy."""
    if hasattr(data, "movedim"):
        return data.movedim(-1, -3)
    if hasattr(data, "transpose"):
        return numpy().moveaxis(data, -1, -3)
    raise RuntimeError(
        "dimension_order='NCHW' needs torch or numpy; say dimension_order='NHWC'"
    )


def dtype_name(dtype):
    """Returns "uint8" for torch.uint8, numpy.uint8, numpy.dtype("uint8"), "uint8"."""
    if isinstance(dtype, str):
        return dtype
    for attribute in ("name", "__name__"):
        name = getattr(dtype, attribute, None)
        if isinstance(name, str):
            return name
    return str(dtype).removeprefix("torch.")
