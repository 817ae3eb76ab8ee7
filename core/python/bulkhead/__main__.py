# SPDX-License-Identifier: Apache-2.0
"""`python3 -m bulkhead ARGS...` is the command `bulkhead`, with the site-packages of
this interpreter on its plugin path."""

import os
import sys

from bulkhead._host import plugin_last_path


def main() -> None:
    """Replaces this process by the command, with the same pid."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bulkhead")
    environment = dict(os.environ)
    last = plugin_last_path()
    if last is not None:
        environment["BULKHEAD_LAST_PATH"] = os.pathsep.join(last)
    try:
        os.execve(program, ["bulkhead", *sys.argv[1:]], environment)
    except FileNotFoundError:
        sys.exit(f"bulkhead: {program} is not there; `tools/package wheel` makes a package with it")


if __name__ == "__main__":
    main()
