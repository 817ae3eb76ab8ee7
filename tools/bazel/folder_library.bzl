# SPDX-License-Identifier: Apache-2.0
"""The library of a folder.

A folder is one library. Something of it stands apart only where others must not
have the rest, such as a system library that not everybody links, or where two
folders would need each other otherwise. What stands apart is declared above the
library, which has all sources that no target above it has.
"""

load(":layers.bzl", "check_layers", "ground")

# Marks what folder_library has declared, and not somebody else under the same name.
_TAG = "folder_library"

def sources_above():
    """Lists what targets above the call have as sources.

    Returns:
      The files of the package.
    """
    files = []
    for rule in native.existing_rules().values():
        for attribute in ["srcs", "hdrs", "textual_hdrs"]:
            files += [
                label[1:]
                for label in rule.get(attribute) or []
                if label.startswith(":")
            ]
    return files

def _full(label):
    """Returns a label with all of its parts, since two ways to write one are two labels to Bazel."""
    if label.startswith(":"):
        return "//" + native.package_name() + label
    if ":" in label:
        return label
    if "//" not in label:
        label += "//"
    return label + ":" + label.rstrip("/").split("/")[-1].lstrip("@")

def seen_by_folder(deps):
    """Adds the library of the folder, if it is declared above, with what it depends on.

    Args:
      deps: What a test of the folder names.

    Returns:
      The libraries that the test sees.
    """
    folder = native.package_name().split("/")[-1]
    library = native.existing_rule(folder)
    seen = []
    if library and _TAG in library["tags"]:
        seen = [":" + folder] + list(library["deps"])
    return with_ground(deps + seen)

def with_ground(deps):
    """Adds what the whole top folder stands on.

    Args:
      deps: What a target of this package names.

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
    """Declares a library of all sources of its folder that no target above has.

    Tests (x_test.cc) and programs (x_main.cc) are no part of it.

    Args:
      name: The name of the target: the folder's.
      srcs: Further sources, such as generated ones.
      hdrs: Further headers, such as another folder's.
      deps: Other libraries. None may be of a layer above the folder's. What the
        whole top folder stands on (layers.bzl) is among them unnamed.
      apart: Further sources and headers that are no part of it.
      visibility: Who may use it. By default, all below the same top folder, tools
        and tests: the layers say who else may not.
      **kwargs: Further attributes of cc_library.
    """
    check_layers(deps)
    others = apart + sources_above()
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
    """Declares a library of some sources of a folder, which others have without the rest.

    Args:
      name: The name of the target.
      sources: The sources x of which x.cc, x.h or both are part of it. By default,
        the one called like the target.
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
