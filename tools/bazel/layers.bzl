# SPDX-License-Identifier: Apache-2.0
"""The layers of core.

A folder may use those before it and none after it. Application and supervisor stand
on the same ground and never see each other, so each has a ladder of its own.
tools/lint reads this file too, and checks the includes and the whole graph.
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
    "core/supervisor",
]

# The top folders that each may use.
_ABOVE = {
    "core": ["core", "ipc"],
    "ipc": ["ipc"],
    "backends": ["backends", "ipc"],
    "tools": ["tools", "core", "ipc", "backends"],
    "tests": ["tests", "tools", "core", "ipc", "backends"],
}

# The ground of all libraries and unit tests below a folder, but for those named after
# it, which are lower.
_STANDS_ON = {
    "core": (["//core/base", "//ipc"], ["core/base", "core/include"]),
    "backends/worker": (["//backends/sdk", "//ipc"], []),
}

def ground():
    """Finds what all libraries of this package stand on.

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
    """Fails if a dependency of this package is of a layer that it may not see.

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
