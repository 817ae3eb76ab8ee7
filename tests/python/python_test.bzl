# SPDX-License-Identifier: Apache-2.0
"""Tests in Python that start bulkheadd, backends and workers."""

_LIBEXEC = "//tools/dist:libexec"
_SITE = "//core/python:site"

# Further built files, by the names under which a test asks for them.
_USABLE = {
    "backend": ("BULKHEAD_TEST_BACKEND", "$(rootpath {})", "//tests/vendors/c_vendor:wheel"),
    "chaos": ("BULKHEAD_TEST_CHAOS", "$(rootpaths {})", "//tests/chaos:dist"),
    "cli": ("BULKHEAD_TEST_CLI", "$(rootpath {})", "//tools/cli:bulkhead"),
    "package": ("BULKHEAD_TEST_PACKAGE", "$(rootpath {})", "//tools:package"),
    "prefix": ("BULKHEAD_TEST_PREFIX_TAR", "$(rootpath {})", "//tools/packaging:prefix.tar"),
}

def python_test(name, size = "medium", uses = [], hides = [], pages = [], source = None, deps = [], tags = [], **kwargs):
    """Declares a program of unittest, NAME.py, which imports the built package.

    The test begins with `import support`, which finds the built files that the
    environment names. It runs outside Bazel's sandbox, as a bulkhead_test does.

    Args:
      name: The name of the target and of the source.
      size: The size of the test.
      uses: Further built files, by their names in _USABLE.
      hides: Modules that the test finds not installed.
      pages: Further files that the test reads.
      source: The source, if its name is another.
      deps: Further modules of tests, beside support.
      tags: Further tags.
      **kwargs: Further attributes of py_test.
    """
    files = [_LIBEXEC, _SITE] + pages
    variables = {
        "BULKHEAD_TEST_LIBEXEC": "$(rootpaths {})".format(_LIBEXEC),
        "BULKHEAD_TEST_PYTHON": "$(rootpath {})".format(_SITE),
        # The folder of the sources stays as it is.
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    if hides:
        variables["BULKHEAD_TEST_HIDES"] = " ".join(hides)
    source = source or name + ".py"
    for used in uses:
        variable, path, label = _USABLE[used]
        files.append(label)
        variables[variable] = path.format(label)
    native.py_test(
        name = name,
        size = size,
        srcs = [source],
        main = source,
        data = files,
        env = variables,
        # Otherwise the directory of the workspace, whose name is `bulkhead`,
        # would become a package of that name.
        legacy_create_init = False,
        python_version = "PY3",
        tags = [
            "no-sandbox",
            "no-sanitizer",
        ] + tags,
        deps = [":support"] + deps,
        **kwargs
    )
