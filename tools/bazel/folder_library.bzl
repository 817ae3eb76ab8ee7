# SPDX-License-Identifier: Apache-2.0
"""The library of a folder.

A folder is one library. Some of its sources are a library apart only if others must not
have the rest, such as a system library that not everybody links, or if two folders
would need each other otherwise. Libraries and programs apart are declared above the
library of the folder, which has all sources that none of them has.
"""

load(":layers.bzl", "check_layers", "ground")

# The tag of the libraries that folder_library has declared.
_TAG = "folder_library"

def sources_above(kinds):
    """Lists the files of this package that are sources of rules above the call.

    Args:
      kinds: The kinds of rules that count: those that compile their sources. A rule of
        another kind, such as a filegroup, may name a source that the caller has to compile.

    Returns:
      The names of the files.
    """
    files = []
    for rule in native.existing_rules().values():
        if rule["kind"] not in kinds:
            continue
        for attribute in ["srcs", "hdrs", "textual_hdrs"]:
            files += [
                label[1:]
                for label in rule.get(attribute) or []
                if label.startswith(":")
            ]
    return files

def _full(label):
    """Returns a label with all of its parts, since Bazel takes two spellings for two labels."""
    if label.startswith(":"):
        return "//" + native.package_name() + label
    if ":" in label:
        return label
    if "//" not in label:
        label += "//"
    return label + ":" + label.rstrip("/").split("/")[-1].lstrip("@")

def seen_by_folder(deps):
    """Adds the library of the folder and its dependencies, if it is declared above.

    Args:
      deps: The libraries that a test of the folder names.

    Returns:
      All libraries of the test.
    """
    folder = native.package_name().split("/")[-1]
    library = native.existing_rule(folder)
    seen = []
    if library and _TAG in library["tags"]:
        seen = [":" + folder] + list(library["deps"])
    return with_ground(deps + seen)

def with_ground(deps):
    """Adds the ground of the package: the libraries that its whole top folder depends on.

    Args:
      deps: The libraries that a target of this package names.

    Returns:
      All libraries, each once.
    """
    return depset([_full(dep) for dep in deps + ground()]).to_list()

def _visibility(visibility):
    top = native.package_name().split("/")[0]
    return visibility or [
        "//{}:__subpackages__".format(folder)
        for folder in depset([top, "tests", "tools"]).to_list()
    ]

def folder_library(name, srcs = [], hdrs = [], deps = [], apart = [], visibility = None, **kwargs):
    """Declares a library of all sources of its folder that no library or program above has.

    Tests (x_test.cc) and programs (x_main.cc) are not in the library.

    Args:
      name: The name of the target, which is the name of the folder.
      srcs: Further sources, such as generated ones.
      hdrs: Further headers, such as another folder's.
      deps: Other libraries. None may be of a layer above the folder's. The ground of the
        folder (layers.bzl) is added.
      apart: Further sources and headers that are not in the library.
      visibility: The packages that may use the library. By default, all below the same
        top folder, tools and tests; the layers exclude some of them.
      **kwargs: Further attributes of cc_library.
    """
    check_layers(deps)
    others = apart + sources_above(["cc_library", "cc_binary"])
    native.cc_library(
        name = name,
        srcs = srcs + native.glob(
            ["*.cc"],
            exclude = ["*_test.cc", "*_main.cc"] + others,
            allow_empty = True,
        ),
        hdrs = hdrs + native.glob(
            ["*.h"],
            exclude = others,
            allow_empty = True,
        ),
        tags = [_TAG],
        deps = with_ground(deps),
        visibility = _visibility(visibility),
        **kwargs
    )

def library_apart(name, sources = None, deps = [], visibility = None, **kwargs):
    """Declares a library of some sources of a folder, which others can use without the rest.

    Args:
      name: The name of the target.
      sources: The names x of the sources: x.cc, x.h or both are in the library. By
        default, the name of the target.
      deps: See folder_library.
      visibility: See folder_library.
      **kwargs: Further attributes of cc_library.
    """
    check_layers(deps)
    for source in sources or [name]:
        if not native.glob([source + ".cc", source + ".h"], allow_empty = True):
            fail("{}: there is neither {}.cc nor {}.h".format(name, source, source))
    native.cc_library(
        name = name,
        srcs = native.glob([source + ".cc" for source in sources or [name]], allow_empty = True),
        hdrs = native.glob([source + ".h" for source in sources or [name]], allow_empty = True),
        deps = with_ground(deps),
        visibility = _visibility(visibility),
        **kwargs
    )
