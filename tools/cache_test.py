# SPDX-License-Identifier: Apache-2.0
"""The cache keeps what was used last, and no more than its bound."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

CACHE = pathlib.Path(__file__).resolve().parent / "cache"
MIB = 2**20


class Cache(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.home = pathlib.Path(directory.name)
        self.kept = self.home / "bulkhead" / "bazel"

    def cache(self, *arguments, status=0):
        done = subprocess.run(
            [CACHE, *arguments], env=dict(os.environ, XDG_CACHE_HOME=str(self.home)),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def add(self, name, age):
        """Keeps a file of 1 MiB that was used `age` seconds after the oldest one."""
        path = self.kept / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * MIB)
        os.utime(path, (10**9 + age, 10**9))

    def names(self):
        return sorted(path.name for path in self.kept.rglob("*") if path.is_file())

    def test_what_was_not_used_for_longest_goes_first(self):
        for age, name in enumerate(("new/d", "old/c", "old/b", "new/a")):
            self.add(name, age)
        self.cache("--trim", "--bound", str(3 / 1024))
        self.assertEqual(self.names(), ["a", "b"])

    def test_below_the_bound_all_is_kept(self):
        for age, name in enumerate("abc"):
            self.add(name, age)
        self.cache("--trim", "--bound", str(4 / 1024))
        self.assertEqual(self.names(), ["a", "b", "c"])

    def test_emptying_leaves_what_is_not_the_cache(self):
        self.add("versions/a", 0)
        other = self.home / "bulkhead" / "fuzz"
        other.mkdir()
        self.cache("--empty")
        self.assertFalse(self.kept.exists())
        self.assertTrue(other.is_dir())

    def test_the_size_is_told(self):
        self.add("versions/a", 0)
        told = json.loads(self.cache("--json").stdout)
        self.assertEqual(told["directory"], str(self.kept))
        self.assertGreaterEqual(told["bytes"], MIB)
        self.assertIn(f"{self.kept}: 0.0 GiB of 24.0 GiB", self.cache().stdout)

    def test_a_cache_that_is_not_there_is_empty(self):
        self.assertEqual(json.loads(self.cache("--json").stdout)["bytes"], 0)
        self.cache("--trim")
        self.cache("--empty")

    def test_a_bound_that_is_no_size_is_refused(self):
        for bound in ("0", "-1", "nan", "much"):
            self.add("versions/a", 0)
            self.assertIn("--bound", self.cache("--trim", "--bound", bound, status=2).stderr)
            self.assertEqual(self.names(), ["a"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
