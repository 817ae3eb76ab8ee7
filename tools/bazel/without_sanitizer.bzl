# SPDX-License-Identifier: Apache-2.0
"""Builds what runs in the sandbox without a sanitizer, in every build.

A sanitizer's runtime makes system calls that the filters of the sandbox forbid,
and maps more memory than its limits allow. In a build with sanitizers, the
application and bulkheadd have them. The reaper, the worker and the backends,
which bulkheadd starts, are built without the options of the sanitizers in
.bazelrc. In any other build, nothing changes.
"""

_COPTS = "//command_line_option:copt"
_LINKOPTS = "//command_line_option:linkopt"
_MODE = "//command_line_option:compilation_mode"
_SUFFIX = "//command_line_option:platform_suffix"
_OPTIONS = [_COPTS, _LINKOPTS, _MODE, _SUFFIX]

# The options of `build:sanitizer` that concern a sanitizer and do not name one.
_COPTS_OF_ALL = ["-O1", "-g1", "-fno-omit-frame-pointer"]

def _names_sanitizer(option):
    return option.startswith("-fsanitize=") or option.startswith("-fno-sanitize")

def _without_sanitizer_impl(settings, _attr):
    if not [option for option in settings[_COPTS] if _names_sanitizer(option)]:
        return settings
    return {
        _COPTS: [
            option
            for option in settings[_COPTS]
            if not _names_sanitizer(option) and option not in _COPTS_OF_ALL
        ],
        _LINKOPTS: [
            option
            for option in settings[_LINKOPTS]
            if not _names_sanitizer(option)
        ],
        # Takes less time to build than "opt".
        _MODE: "fastbuild",
        # Of the suffixes in .bazelrc, only the one of clang also holds without
        # a sanitizer.
        _SUFFIX: "-clang" if "-clang" in settings[_SUFFIX] else "",
    }

# The transition of an attribute whose targets run in the sandbox.
without_sanitizer = transition(
    implementation = _without_sanitizer_impl,
    inputs = _OPTIONS,
    outputs = _OPTIONS,
)

# The attribute that Bazel requires of a rule that uses the transition.
TRANSITION_ALLOWLIST = attr.label(
    default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
)

def _sandboxed_program_impl(ctx):
    return [DefaultInfo(
        files = depset(ctx.files.program),
        runfiles = ctx.runfiles(ctx.files.program),
    )]

sandboxed_program = rule(
    implementation = _sandboxed_program_impl,
    attrs = {
        "program": attr.label(
            cfg = without_sanitizer,
            doc = "The executable.",
            mandatory = True,
        ),
        "_allowlist_function_transition": TRANSITION_ALLOWLIST,
    },
    doc = "Names an executable that runs in the sandbox.",
)
