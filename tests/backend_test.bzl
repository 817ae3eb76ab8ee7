# SPDX-License-Identifier: Apache-2.0
"""One suite of tests for any backend, in this repository or out of it."""

load("//tests:bulkhead_test.bzl", "bulkhead_test")

def bulkhead_backend_test(
        name,
        distribution,
        device = "",
        size = "medium",
        env = {},
        **kwargs):
    """Runs the suite of tests/backend_suite against an installed distribution.

    Args:
      name: The name of the target.
      distribution: A target whose files are a distribution with its dist-info
        directory, for example a bulkhead_distribution.
      device: The device to decode on, for example "openreg:1". By default, the
        suite decodes on the first device of the distribution.
      size: The size of the test.
      env: Further environment variables.
      **kwargs: Further attributes of bulkhead_test, for example
        as_ordinary_user.
    """
    bulkhead_test(
        name = name,
        size = size,
        testonly = True,
        distribution = distribution,
        env = dict(env, BULKHEAD_TEST_DEVICE = device),
        deps = ["//tests/backend_suite"],
        **kwargs
    )
