# SPDX-License-Identifier: Apache-2.0
#
# bound: what is found is written here.
"""Each way to wait too short in a test is found, and what is excused is not."""

import pathlib
import subprocess
import tempfile
import unittest

SHORT_WAITS = pathlib.Path(__file__).resolve().parent / "short_waits.py"


class ShortWaits(unittest.TestCase):
    def found(self, text, name="x_test.cc"):
        """Returns the lines with a finding, as text: `1 3`."""
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / name
            path.write_text(text)
            done = subprocess.run(
                [SHORT_WAITS, path], stdout=subprocess.PIPE, text=True, check=False
            )
        findings = done.stdout.splitlines()
        self.assertEqual(done.returncode, int(bool(findings)))
        return " ".join(line.removeprefix(f"{path}:").split(":")[0] for line in findings)

    def test_short_durations_of_cpp_are_found(self):
        for line in (
            "options.deadlines.frame = std::chrono::milliseconds(19'999);",
            "constexpr std::chrono::seconds kSoon{5};",
            "Await(500ms);",
            "process.AwaitEnd(2s);",
            "EXPECT_EQ(poll(&wait, 1, 10'000), 1);",
            "const timeval patience = {.tv_sec = 5};",
            "alarm(10);",
            "constexpr int kPatienceMs = 1'000;",
            'Run({"--limit", "open-ms=3000"});',
        ):
            self.assertEqual(self.found(line), "1", line)
        # The number is on the second line.
        self.assertEqual(self.found("Await(std::chrono::milliseconds(\n    500));"), "2")

    def test_sleeps_of_cpp_are_found(self):
        for call in ("std::this_thread::sleep_for(a)", "usleep(a)", "sleep(60)", "nanosleep(&a, b)"):
            self.assertEqual(self.found(f"{call};"), "1", call)

    def test_short_waits_of_python_are_found(self):
        for line in (
            "time.sleep(60)",
            "subprocess.run(command, timeout=10)",
            "event.wait(0.5)",
            'Host(deadlines={"frame": 0.5})',
            'deadlines = dict.fromkeys(("frame", "open"), 0.2)',
            'command += ["--limit", "frame-ms=500"]',
        ):
            self.assertEqual(self.found(line, "x_test.py"), "1", line)

    def test_short_waits_of_shell_are_found(self):
        for line in ("sleep 1", "timeout 5 true", "bulkhead --limit open-ms=1"):
            self.assertEqual(self.found(line, "x_test.sh"), "1", line)

    def test_what_is_long_or_no_wait_is_not(self):
        for line in (
            "Await(std::chrono::milliseconds(20'000));",
            "Await(std::chrono::minutes(1));",
            "EXPECT_FALSE(process.AwaitEnd(milliseconds(0)));",
            "EXPECT_EQ(poll(&wait, 1, -1), 1);",
            "EXPECT_EQ(poll(&wait, 1, 60'000), 1);",
            "milliseconds limit{60'000};",
            "Await(kSlowdown * kLimit);",
            'EXPECT_EQ(text, "5 ms of milliseconds(5), 3s");',
            "// Not after milliseconds(5), nor sleep(1).",
            "x = 0x5s1;",
        ):
            self.assertEqual(self.found(line), "", line)
        self.assertEqual(self.found("# sleep 1\nrun --timeout=5", "x_test.sh"), "")
        self.assertEqual(self.found('"""time.sleep(1)\ntimeout=5"""\nrun(timeout=20)', "x_test.py"), "")

    def test_a_bound_excuses_its_line(self):
        self.assertEqual(self.found("Await(5ms);  // bound: it hangs\nAwait(5ms);"), "2")
        self.assertEqual(self.found("time.sleep(1)  # bound: a pause\n", "x_test.py"), "")

    def test_a_bound_above_excuses_what_follows_to_the_next_empty_line(self):
        text = "int a;\n// bound: it hangs,\n// for ever.\nAwait(5ms);\nAwait(5ms);\n\nAwait(5ms);"
        self.assertEqual(self.found(text), "7")

    def test_a_bound_on_top_excuses_the_file(self):
        top = "// SPDX-License-Identifier: Apache-2.0\n//\n// bound: made up.\n#include <x>\n"
        self.assertEqual(self.found(top + "\nAwait(5ms);\n\nAwait(5ms);\n"), "")

    def test_a_bound_has_a_reason_and_something_to_excuse(self):
        self.assertEqual(self.found("Await(5ms);  // bound:\n"), "1")
        self.assertEqual(self.found("Await(5ms);  // unbound: it hangs\n"), "1")
        self.assertEqual(self.found("int a;\n\n// bound: it hangs.\nAwait(60s);\n"), "3")

    def test_sources_of_tests_are_found_in_the_repository(self):
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            for name in (
                "core/a_test.cc", "core/b.cc", "tests/c.cc", "tests/d/e.py",
                "tests/children/f.cc", "tests/d/slow_backend.cc", "tests/vendors/g.cc",
            ):  # fmt: skip
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("usleep(1);" if name.endswith("cc") else "time.sleep(1)")
            subprocess.run(["git", "init", "-q"], cwd=root, check=True)
            done = subprocess.run(
                [SHORT_WAITS], cwd=root, stdout=subprocess.PIPE, text=True, check=False
            )
        self.assertEqual(
            [line.split(":")[0] for line in done.stdout.splitlines()],
            ["core/a_test.cc", "tests/c.cc", "tests/d/e.py"],
        )


if __name__ == "__main__":
    unittest.main()
