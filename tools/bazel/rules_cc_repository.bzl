# SPDX-License-Identifier: Apache-2.0
"""Makes Debian's rules_cc loadable by the Bazel that Debian ships.

Debian 12 ships Bazel 4.2.3 with a rules_cc written for Bazel 5: two files of
rules_cc load `use_cpp_toolchain`, which Bazel 4.2.3 does not have. This rule makes a
copy of rules_cc in which those two files name the toolchain type themselves. If the
installed rules_cc needs no change, the copy is identical.
"""

_NEEDS_TOOLCHAIN_TYPE = [
    "cc/private/rules_impl/cc_flags_supplier.bzl",
    "cc/private/rules_impl/compiler_flag.bzl",
]

def _rules_cc_repository_impl(ctx):
    source = ctx.path(ctx.attr.path)
    if not source.exists:
        fail("rules_cc is not in {}: run tools/setup, which installs the package bazel-rules-cc".format(source))
    copied = ctx.execute(["cp", "-rL", "{}/.".format(source), "."])
    if copied.return_code != 0:
        fail("cannot copy rules_cc from {}: {}".format(source, copied.stderr))
    for name in _NEEDS_TOOLCHAIN_TYPE:
        if not ctx.path(name).exists:
            continue
        text = ctx.read(name)
        text = text.replace(", \"use_cpp_toolchain\")", ")")
        text = text.replace("use_cpp_toolchain()", "[\"@bazel_tools//tools/cpp:toolchain_type\"]")
        ctx.file(name, text, executable = False)

rules_cc_repository = repository_rule(
    implementation = _rules_cc_repository_impl,
    attrs = {
        "path": attr.string(
            doc = "Directory of the installed rules_cc.",
            mandatory = True,
        ),
    },
    doc = "Copies an installed rules_cc and adapts it to Bazel 4.2.",
)
