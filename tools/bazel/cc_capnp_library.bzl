# SPDX-License-Identifier: Apache-2.0
"""Generates C++ from Cap'n Proto schemas with the installed `capnp`.

A schema must import other schemas of its package by a relative path, such as
`import "other.capnp"`. For an absolute import, capnp would generate an `#include <...>`,
which is not found, since Bazel's search path is for quoted includes.
"""

def cc_capnp_library(name, srcs, deps = [], **kwargs):
    """Compiles schemas and creates a cc_library from the result.

    Generates `x.capnp.c++` and `x.capnp.h` from each `x.capnp`. The header is included by
    its path from the workspace root.

    Args:
      name: name of the cc_library.
      srcs: the .capnp files, all in this package.
      deps: cc_capnp_library targets whose schemas are imported by `srcs`.
      **kwargs: passed on to the cc_library, for example `visibility`.
    """
    shared = {
        key: kwargs[key]
        for key in ["tags", "testonly", "visibility"]
        if key in kwargs
    }
    native.filegroup(
        name = name + "_schemas",
        srcs = srcs + [dep + "_schemas" for dep in deps],
        **shared
    )
    native.genrule(
        name = name + "_capnp",
        srcs = srcs + [dep + "_schemas" for dep in deps],
        outs = [src + suffix for src in srcs for suffix in [".h", ".c++"]],
        cmd = "capnp compile --import-path=. --src-prefix=. " +
              "-oc++:$(GENDIR) " +
              " ".join(["$(location {})".format(src) for src in srcs]),
        message = "Compiling Cap'n Proto schema",
        visibility = ["//visibility:private"],
        **{key: shared[key] for key in shared if key != "visibility"}
    )
    native.cc_library(
        name = name,
        srcs = [src + ".c++" for src in srcs],
        hdrs = [src + ".h" for src in srcs],
        deps = deps + ["@capnp"],
        **kwargs
    )
