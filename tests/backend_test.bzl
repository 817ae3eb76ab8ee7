# SPDX-License-Identifier: Apache-2.0
"""One suite of tests for any backend, ours or a vendor's."""

def bulkhead_backend_test(
        name,
        distribution,
        device = "",
        as_ordinary_user = False,
        size = "medium",
        tags = [],
        **kwargs):
    """Runs the backend suite against an installed distribution.

    Args:
      name: of the test.
      distribution: target whose files are a distribution with its dist-info,
        such as a bulkhead_distribution.
      device: what the suite decodes on, for instance "openreg:1"; default: the
        first device of the distribution.
      as_ordinary_user: drop root's rights first.
      size: of the test.
      tags: further tags.
      **kwargs: as of cc_test.
    """
    main = "//tests/support:ordinary_user_main" if as_ordinary_user else "@gtest//:gtest_main"
    native.cc_test(
        name = name,
        size = size,
        testonly = True,
        data = [
            distribution,
            "//tools/dist:libexec",
        ],
        env = {
            "BULKHEAD_TEST_DEVICE": device,
            "BULKHEAD_TEST_DISTRIBUTION": "$(rootpaths {})".format(distribution),
            "BULKHEAD_TEST_LIBEXEC": "$(rootpaths //tools/dist:libexec)",
        },
        # The suite starts the sandbox, which Bazel's own forbids; a sanitizer's
        # runtime makes calls that the sandbox forbids.
        tags = tags + [
            "no-sandbox",
            "no-sanitizer",
        ],
        deps = [
            "//tests/backend_suite",
            main,
        ],
        **kwargs
    )
