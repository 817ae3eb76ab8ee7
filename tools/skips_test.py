# SPDX-License-Identifier: Apache-2.0
"""Every way in which a test passes without showing anything is counted."""

import json
import pathlib
import subprocess
import tempfile
import unittest

SKIPS = pathlib.Path(__file__).resolve().parent / "skips"
RAN = "[==========] 3 tests from 1 test suite ran. (0 ms total)\n"
RAN_NONE = "[==========] 0 tests from 0 test suites ran. (0 ms total)\n"


class Skips(unittest.TestCase):
    def count(self, *logs, outcome="(cached) PASSED", allowed=None, target="//x:y_test"):
        """Returns the reasons with their cases, for a target whose shards wrote `logs`."""
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            for number, log in enumerate(logs):
                place = target.strip("/").replace(":", "/")
                shard = root / "logs" / place / f"shard_{number + 1}_of_{len(logs)}"
                shard.mkdir(parents=True)
                (shard / "test.log").write_text(log)
            (root / "output").write_text(f"{target}    {outcome} in 0.1s\n")
            (root / "allowed").write_text("# Comment.\n" + (allowed or ""))
            done = subprocess.run(
                [SKIPS, "--json", "--allowed", root / "allowed", "--logs", root / "logs",
                 root / "output"],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
            )  # fmt: skip
        self.assertIn(done.returncode, (0, 1), done.stderr)
        rows = json.loads(done.stdout)
        self.assertEqual(done.returncode, int(any(not row["allowed"] for row in rows)))
        return {row["reason"]: row["cases"] for row in rows}

    def test_nothing_is_counted_where_all_ran(self):
        self.assertEqual(self.count(RAN, RAN_NONE), {})
        self.assertEqual(self.count("Ran 2 tests in 0.1s\n\nOK\n"), {})

    def test_skipped_cases(self):
        self.assertEqual(self.count("x_test.cc:7: Skipped\nno root\n\n" + RAN), {"no root": 1})
        unittests = "test_it ... skipped 'no root'\nRan 2 tests in 0.1s\n\nOK (skipped=2)\n"
        self.assertEqual(
            self.count(unittests), {"no root": 1, "not told: unittest needs verbosity=2": 1}
        )

    def test_targets_of_which_some_shards_ran_before(self):
        skipped = "x_test.cc:7: Skipped\nno root\n" + RAN
        for outcome in ("PASSED", "(3/4 cached) PASSED", "(1/2 cached) FAILED"):
            self.assertEqual(self.count(RAN, skipped, outcome=outcome), {"no root": 1}, outcome)

    def test_an_allowed_reason_is_whole(self):
        log = "x_test.cc:7: Skipped\nno root\n" + RAN
        self.assertEqual(self.count(log, allowed="no root\n"), {"no root": 1})
        self.assertEqual(self.count(log, allowed="root\n"), {"no root": 1})

    def test_programs_that_ran_no_case(self):
        self.assertEqual(self.count(RAN_NONE), {"the target ran no case": 1})
        self.assertEqual(self.count(RAN + RAN_NONE), {"a program of the target ran no case": 1})

    def test_programs_that_ended_before_their_last_case(self):
        begins = "[==========] Running 3 tests from 1 test suite.\n"
        self.assertEqual(self.count(begins + RAN), {})
        ended = {"a program of the target ended before its last case": 1}
        self.assertEqual(self.count(begins), ended)
        self.assertEqual(self.count(begins + RAN + begins), ended)
        # A test with cases prints their number. Its sources may be the one of its name, several,
        # or in a library; and a macro may declare it under a second name.
        for target in (
            "//tools:skips_test",
            "//ipc:ipc_test",
            "//tests/decoding:decoding_test",
            "//tests/escape:escape_as_ordinary_user_test",
        ):
            self.assertEqual(
                self.count("nothing", target=target), {"the target ran no case": 1}, target
            )
        for target in ("//x:y_test", "//tests/faults:soak_test"):
            self.assertEqual(self.count("PASS: a script of its own", target=target), {}, target)

    def test_a_program_that_names_its_skips_hides_none_of_another(self):
        named = "test_it ... skipped 'no root'\nRan 2 tests in 0.1s\n\nOK (skipped=1)\n"
        silent = "Ran 2 tests in 0.1s\n\nOK (skipped=1)\n"
        self.assertEqual(
            self.count(named + silent), {"no root": 1, "not told: unittest needs verbosity=2": 1}
        )

    def test_a_reason_of_several_lines_is_compared_as_a_whole(self):
        log = "x_test.cc:7: Skipped\nno root\nand no time\n\n" + RAN
        self.assertEqual(self.count(log, allowed="no root\n"), {"no root and no time": 1})

    def test_colours_hide_nothing(self):
        log = RAN_NONE.replace("[==========]", "\x1b[32m[==========]\x1b[m")
        self.assertEqual(self.count(log), {"the target ran no case": 1})

    def test_cases_that_need_not_pass(self):
        self.assertEqual(
            self.count(RAN + "\n  YOU HAVE 2 DISABLED TESTS\n"), {"the case is disabled": 2}
        )
        self.assertEqual(
            self.count("Ran 2 tests in 0.1s\n\nOK (expected failures=1)\n"),
            {"the case is expected to fail": 1},
        )

    def test_a_target_that_bazel_left_out(self):
        self.assertEqual(self.count(outcome="SKIPPED"), {"Bazel left the target out": 1})


if __name__ == "__main__":
    unittest.main(verbosity=2)
