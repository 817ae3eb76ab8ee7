# SPDX-License-Identifier: Apache-2.0
"""Tests of one folder's code.

A folder has one program of them, FOLDER_test, with each `x_test.cc` beside its
`x.cc`: it is linked once and started once. What would disturb the other tests of
the program, or needs more than they do (no sandbox of Bazel's, minutes), is a test
of its own, which has the name of its source.

The tag `unit` says where .ci/run runs a test: under sanitizers, and not a second
time without. So a test that means something only without them is a cc_test; and so
are those of the command and the benchmarks, whose code no stranger feeds and which
nothing else compiles under sanitizers.
"""

def unit_test(name, srcs, deps, size = "small", tags = [], **kwargs):
    """Declares a gtest program that tests the code of its folder.

    Args:
      name: The name of the target.
      srcs: The sources of the tests. The macro adds the main function.
      deps: The libraries under test.
      size: The size of the test.
      tags: Further tags. None of them keeps the test out of the builds with
        sanitizers.
      **kwargs: Further attributes of cc_test.
    """
    if "no-sanitizer" in tags:
        fail("{}: a unit_test runs under sanitizers; this is a cc_test".format(name))
    native.cc_test(
        name = name,
        size = size,
        srcs = srcs,
        tags = tags + ["unit"],
        deps = deps + ["@gtest//:gtest_main"],
        **kwargs
    )
