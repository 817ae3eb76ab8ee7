# SPDX-License-Identifier: Apache-2.0
"""Tests of one folder's code.

The tests of a folder, an `x_test.cc` beside each `x.cc`, are one program, FOLDER_test,
which is linked once and started once. A test that would disturb the others, or that
needs more than they do (minutes, or no sandbox of Bazel's), is a program of its own
with the name of its source.

.ci/run runs tests with the tag `unit` under sanitizers, and not a second time without.
`under_sanitizers = False` is for tests that prove something only without sanitizers, and
for the tests of the command and the benchmarks: no stranger feeds their code, and nothing
else compiles it under sanitizers.
"""

load(":folder_library.bzl", "seen_by_folder", "sources_above")

# Joins the sources of a test into one. Three quarters of the time to compile a test are
# for headers, and the tests of a folder include mostly the same headers. The unnamed
# namespace of each source is put into a namespace named after the source, so that two
# sources may use the same names.
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
      deps: Further libraries. The macro adds the main function and, if it is declared
        above, the library of the folder with its dependencies.
      srcs: The sources of the tests. By default, FOLDER_test has all tests of the folder
        that no test above has. Any other test has the source with its own name.
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
            # A test above names its sources itself, or has them in a library, or joined
            # by the genrule below.
            above = sources_above(["cc_test", "cc_library", "genrule"])
            srcs = native.glob(["*_test.cc"], exclude = apart + above)
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
