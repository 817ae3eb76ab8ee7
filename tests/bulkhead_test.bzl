# SPDX-License-Identifier: Apache-2.0
"""Tests that start bulkheadd, backends and workers the way an installation does.

Such a test needs three things that a plain cc_test does not have:

* Built files at run time (the libexec directory, the command, a distribution),
  and an environment variable for each that holds the path. A test reads the
  variables through tests/support/test_paths.h.
* The tag `no-sandbox`. The programs under test make namespaces and change
  their uid, which Bazel's own sandbox forbids.
* The tag `no-sanitizer`, unless the test asks for sanitizers. .bazelrc leaves
  tests with this tag out of the sanitizer builds. In a test without it, the
  application and bulkheadd have the sanitizer, and what runs in the sandbox
  has not: see //tools/bazel:plain_build.bzl.

Where that is allowed, the main function puts the test into a network namespace
of its own, so that operators' commands of others do not reach it: see
tests/support/own_world.h.
"""

load("//tools/bazel:folder_library.bzl", "seen_by_folder")

_LIBEXEC = "//tools/dist:libexec"

# The built files that a test asks for by name, each with the environment variable
# that holds its path, and with the libraries by which a test uses it.
_USABLE = {
    # A distribution whose backend fails as a script says.
    "chaos": ("BULKHEAD_TEST_CHAOS", "$(rootpaths {})", "//tests/chaos:dist", ["//tests/chaos"]),
    # The command `bulkhead`.
    "cli": ("BULKHEAD_TEST_CLI", "$(rootpath {})", "//tools/cli:bulkhead", []),
    # A replacement for bulkhead-worker that breaks the worker protocol.
    "lying_worker": ("LYING_WORKER", "$(rootpath {})", "//tests/children:lying_worker", ["//tests/liars"]),
    # A program that prints the marks drawn into the frames of a clip.
    "marked_frames": ("BULKHEAD_TEST_MARKS", "$(rootpath {})", "//tests/media:marked_frames_main", []),
}

# The libraries that nearly every test needs.
_DEPS = [
    "//core:bulkhead",
    "//tests/media",
    "//tests/support",
]

def _libraries_of(uses):
    libraries = []
    for used in uses:
        libraries = libraries + _USABLE[used][3]
    return libraries

def bulkhead_test(
        name,
        srcs = None,
        deps = [],
        size = "medium",
        libexec = True,
        distribution = None,
        uses = [],
        as_ordinary_user = False,
        has_main = False,
        sanitizers = False,
        data = [],
        env = {},
        tags = [],
        **kwargs):
    """Declares a gtest program that runs outside Bazel's sandbox.

    Args:
      name: The name of the target.
      srcs: The sources. By default, the one that is called like the target.
      deps: Further libraries. The macro adds the main function, the library, what
        tests/support and tests/media have, and the library of the folder, if it is
        declared above, with what it depends on.
      size: The size of the test.
      libexec: Whether the test needs bulkheadd, the reaper and the worker. If
        so, BULKHEAD_TEST_LIBEXEC holds their paths.
      distribution: A target whose files are an installed distribution with its
        dist-info directory, for example a bulkhead_distribution.
        BULKHEAD_TEST_DISTRIBUTION holds the paths.
      uses: Further built files, by their names in _USABLE.
      as_ordinary_user: Whether the tests run as an ordinary user when Bazel
        runs as root. Without root, the tests run as the user that runs Bazel.
      has_main: Whether `deps` define the main function themselves. It calls
        EnterOwnWorld().
      sanitizers: Whether the test also runs in builds with sanitizers.
      data: Further files that the test reads.
      env: Further environment variables.
      tags: Further tags.
      **kwargs: Further attributes of cc_test.
    """
    files = list(data)
    variables = dict(env)
    if libexec:
        files.append(_LIBEXEC)
        variables["BULKHEAD_TEST_LIBEXEC"] = "$(rootpaths {})".format(_LIBEXEC)
    if distribution:
        files.append(distribution)
        variables["BULKHEAD_TEST_DISTRIBUTION"] = "$(rootpaths {})".format(distribution)
    for used in uses:
        variable, path, label, _ = _USABLE[used]
        files.append(label)
        variables[variable] = path.format(label)

    if as_ordinary_user:
        main = ["//tests/support:ordinary_user_main"]
    elif has_main:
        main = []
    else:
        main = ["//tests/support:own_world_main"]

    native.cc_test(
        name = name,
        size = size,
        srcs = [name + ".cc"] if srcs == None else srcs,
        data = files,
        env = variables,
        tags = tags + ["no-sandbox"] + ([] if sanitizers else ["no-sanitizer"]),
        deps = seen_by_folder(deps + _libraries_of(uses) + main + _DEPS),
        **kwargs
    )

def test_cases(name, srcs, deps = [], uses = [], **kwargs):
    """Declares the cases that several tests run, each in its own way.

    Args:
      name: The name of the library, one of the `deps` of a bulkhead_test without `srcs`.
      srcs: The sources of the cases.
      deps: See bulkhead_test.
      uses: See bulkhead_test. Each test that runs the cases names the files again.
      **kwargs: Further attributes of cc_library.
    """
    native.cc_library(
        name = name,
        testonly = True,
        srcs = srcs,
        deps = seen_by_folder(deps + _libraries_of(uses) + _DEPS + ["@gtest//:gtest_main"]),
        alwayslink = True,
        **kwargs
    )

def bulkhead_test_as_both_users(name, srcs = None, deps = [], uses = [], **kwargs):
    """Declares one test twice: as the user that runs Bazel, and as an ordinary one.

    The second target has the name of the first with `_as_ordinary_user` before
    `_test`.

    Args:
      name: The name of the first target, which ends in `_test`.
      srcs: The sources. By default, the one that is called like the first target. If
        there are none, `deps` have the cases.
      deps: See bulkhead_test.
      uses: See bulkhead_test.
      **kwargs: The attributes of both targets: see bulkhead_test.
    """
    if not name.endswith("_test"):
        fail("{}: the name must end in _test".format(name))
    if srcs == None:
        srcs = [name + ".cc"]
    if srcs:
        test_cases(name = name + "_cases", srcs = srcs, deps = deps, uses = uses)
        deps = [":{}_cases".format(name)]
    both = dict(kwargs, srcs = [], deps = deps, uses = uses)
    bulkhead_test(name = name, **both)
    bulkhead_test(
        name = name[:-len("_test")] + "_as_ordinary_user_test",
        as_ordinary_user = True,
        **both
    )
