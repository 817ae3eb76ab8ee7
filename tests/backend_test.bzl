# SPDX-License-Identifier: Apache-2.0
"""The test that any backend has to pass, in this repository or out of it."""

load("//tests:bulkhead_test.bzl", "bulkhead_test")

def bulkhead_backend_test(
        name,
        distribution,
        backend,
        checks,
        device = "",
        codecs = [],
        size = "large",
        env = {},
        **kwargs):
    """Runs `bulkhead conformance` on an installed distribution.

    Args:
      name: The name of the target.
      distribution: A target whose files are a distribution with its dist-info
        directory, for example a bulkhead_distribution.
      backend: The name of its entry point.
      checks: How many checks have to pass at least: that one is not tried
        would not fail the command.
      device: The device to decode on, for example "openreg:1". By default,
        the first device of the backend.
      codecs: The codecs of the clips of video. By default, all.
      size: The size of the test.
      env: Further environment variables.
      **kwargs: Further attributes of bulkhead_test.
    """
    bulkhead_test(
        name = name,
        srcs = [],
        size = size,
        testonly = True,
        distribution = distribution,
        env = dict(
            env,
            BULKHEAD_TEST_BACKEND = backend,
            BULKHEAD_TEST_CHECKS = str(checks),
            BULKHEAD_TEST_CODECS = ",".join(codecs),
            BULKHEAD_TEST_DEVICE = device,
        ),
        uses = ["cli"],
        deps = ["//tests/conformance:backend_test"],
        **kwargs
    )
