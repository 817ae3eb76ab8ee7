# SPDX-License-Identifier: Apache-2.0
"""The layers of core.

A folder may depend on the folders before it in its list, and on none after it.
Application and supervisor depend on the same ground and never on each other, so each
has a list of its own. tools/lint reads this file too, and checks the includes and
Bazel's whole graph.
"""

GROUND = [
    "core/include",
    "core/base",
    "core/control",
    "core/grants",
    "core/discovery",
    "core/crashes",
    "core/worker_protocol",
]
APPLICATION = [
    "core/application/frames",
    "core/application/supervisor_link",
    "core/application/worker_link",
    "core/application/session",
    "core/application/operators",
    "core/application/api",
    "core/application/writers",
    "core/application/decoding",
    "core/application/batch",
    "core/python",
]
SUPERVISOR = [
    "core/supervisor/testing",
    "core/supervisor/sandbox",
    "core/supervisor/files",
    "core/supervisor/sockets",
    "core/supervisor/blame",
    "core/supervisor/records",
    "core/supervisor/backend",
    "core/supervisor/health",
    "core/supervisor/catalog",
    "core/supervisor/shadow",
    "core/supervisor",
]

# The top folders that each top folder may depend on.
_ABOVE = {
    "core": ["core", "ipc"],
    "ipc": ["ipc"],
    "backends": ["backends", "ipc"],
    "tools": ["tools", "core", "ipc", "backends"],
    "tests": ["tests", "tools", "core", "ipc", "backends"],
}

# The libraries that all libraries and unit tests below a folder depend on (their ground).
# The folders in the second list are lower layers, and do not.
_STANDS_ON = {
    "core": (["//core/base", "//ipc"], ["core/base", "core/include"]),
    "backends/worker": (["//backends/sdk", "//ipc"], []),
}

def ground():
    """Finds the ground of this package: what all of its libraries depend on.

    Returns:
      The labels of the libraries.
    """
    package = native.package_name() + "/"
    for folder, (libraries, lower) in _STANDS_ON.items():
        if package.startswith(folder + "/"):
            if not [other for other in lower if package.startswith(other + "/")]:
                return libraries
    return []

def _rank(package, ladder):
    """Returns the place of the longest folder that holds the package, or -1."""
    best = -1
    for place, folder in enumerate(ladder):
        if package != folder and not package.startswith(folder + "/"):
            continue
        if best == -1 or len(folder) > len(ladder[best]):
            best = place
    return best

def check_layers(deps):
    """Fails if this package may not depend on one of the libraries.

    Args:
      deps: The labels of a target of the package that is being loaded.
    """
    package = native.package_name()
    ladder = GROUND + (SUPERVISOR if package.startswith("core/supervisor") else APPLICATION)
    for dep in deps:
        if not dep.startswith("//"):
            continue
        other = dep[2:].split(":")[0]
        if other.split("/")[0] not in _ABOVE[package.split("/")[0]]:
            fail("{} must not see {}".format(package, dep))
        if not (package.startswith("core/") and other.startswith("core/")):
            continue
        if _rank(other, ladder) == -1 or _rank(other, ladder) > _rank(package, ladder):
            fail("{} is a layer below {}: see {}".format(package, dep, "//tools/bazel:layers.bzl"))
