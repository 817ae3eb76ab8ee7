# SPDX-License-Identifier: Apache-2.0
"""Names the packages of Debian to install if the library cannot be loaded."""

import importlib.metadata


def explained(error: ImportError) -> ImportError:
    """Returns the error, with the packages to install if a shared library is missing.

    The metadata of the wheel lists the packages of the libraries that it links.
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
