# SPDX-License-Identifier: Apache-2.0
"""Says which packages of Debian are missing where the library cannot be loaded."""

import importlib.metadata


def explained(error: ImportError) -> ImportError:
    """Returns the error with what to install, if it is for want of a shared library.

    The metadata of the wheel lists the packages that it was built with.
    """
    if "cannot open shared object file" not in str(error):
        return error
    try:
        packages = importlib.metadata.metadata("bulkhead").get_all("Requires-External")
    except importlib.metadata.PackageNotFoundError:
        packages = None
    if not packages:
        return error
    return ImportError(
        f"{error}: bulkhead needs packages of Debian; apt-get install {' '.join(packages)}",
        name=error.name,
        path=error.path,
    )
