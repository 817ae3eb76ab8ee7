# SPDX-License-Identifier: Apache-2.0
"""Tests of one folder's code.

A folder has one program of them, FOLDER_test, with each `x_test.cc` beside its
`x.cc`: it is linked once and started once. What would disturb the other tests of
the program, or needs more than they do (no sandbox of Bazel's, minutes), is a test
of its own, which has the name of its source.

The tag `unit` says where .ci/run runs a test: under sanitizers, and not a second
time without. A test that means something only without them, and the tests of the
command and the benchmarks, whose code no stranger feeds and which nothing else
compiles under sanitizers, say `under_sanitizers = False`.
"""

load(":folder_library.bzl", "seen_by_folder", "sources_above")

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

def unit_test(name, deps = [], srcs = None, apart = [], size = "small", tags = [], under_sanitizers = True, **kwargs):
    """Declares a gtest program that tests the code of its folder.

    Several sources are compiled as one.

    Args:
      name: The name of the target.
      deps: Further libraries. The macro adds the library of the folder, if it is
        declared above, with what it depends on, and the main function.
      srcs: The sources of the tests. By default, those of FOLDER_test are all of the
        folder that no target above has, and of any other the one called like it.
      apart: Further tests of the folder that have a target of their own.
      size: The size of the test.
      tags: Further tags.
      under_sanitizers: Whether .ci/run runs the test under sanitizers, and not
        without.
      **kwargs: Further attributes of cc_test.
    """
    if under_sanitizers and "no-sanitizer" in tags:
        fail("{}: say under_sanitizers = False".format(name))
    folder = native.package_name().split("/")[-1]
    if srcs == None:
        srcs = [name + ".cc"]
        if name == folder + "_test":
            srcs = native.glob(["*_test.cc"], exclude = apart + sources_above())
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
        tags = tags + (["unit"] if under_sanitizers else []),
        deps = seen_by_folder(deps + ["@gtest//:gtest_main"]),
        **kwargs
    )
