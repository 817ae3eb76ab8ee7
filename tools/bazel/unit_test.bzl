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

# Joins sources into one, since three quarters of the time that a test takes to compile
# are for headers, which the tests of a folder have in common. The unnamed namespace of
# each source is put into a namespace named after the source, so that two sources may
# use the same names.
_JOIN = """
for source in $(SRCS); do
  name=$${source##*/}
  echo "#line 1 \\"$$source\\""
  sed -e "s/^namespace {$$/namespace of_$${name%.cc} { namespace {/" \\
    -e 's:^}  // namespace$$:} }:' "$$source"
done > $@
"""

def unit_test(name, srcs, deps, size = "small", tags = [], **kwargs):
    """Declares a gtest program that tests the code of its folder.

    Several sources are compiled as one.

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
    joined = [source for source in srcs if source.endswith("_test.cc")]
    if len(joined) == 1:
        joined = []
    if joined:
        native.genrule(
            name = name + "_source",
            testonly = True,
            srcs = joined,
            outs = [name + "_joined_test.cc"],
            cmd = _JOIN,
            visibility = ["//visibility:private"],
        )
    native.cc_test(
        name = name,
        size = size,
        srcs = [source for source in srcs if source not in joined] + (
            [name + "_joined_test.cc"] if joined else []
        ),
        tags = tags + ["unit"],
        deps = deps + ["@gtest//:gtest_main"],
        **kwargs
    )
