#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds what a busy machine makes a test fail by: a wait below 20 s, or a sleep.

Reads sources of tests: FILEs, or those that git lists. A wait is found by how it
is written, not by what it is used for:

  C++     a duration of std::chrono with a number (milliseconds(500), 500ms,
          seconds kSoon{5}), the last argument of poll(), a number of alarm() or
          tv_sec, and any sleep
  Python  timeout=N, a number for wait(), join() or result(), a deadline of a Host
          ("frame": 0.5), and any sleep
  shell   sleep N and timeout N
  all     open-ms=N and the like, as --limit has it

A number of 0, of 20 s or more, or that is computed is none. What is as short as
it is for a reason has a comment `bound: REASON`: after the line, above it (then
it holds to the next empty line), or on top of the file (then for all of it). A
comment with nothing to excuse is found as well.

Exits 1 if there is a finding.
"""

import re
import subprocess
import sys

LEAST_SECONDS = 20

# Programs that misbehave on purpose, and backends, are not tests. They may wait for any
# time.
MISBEHAVING = re.compile(r"tests/(?:children|vendors)/|.*_backend\.cc$")
ENDINGS = (".cc", ".h", ".py", ".sh")

NUMBER = r"(?P<number>\d[\d'_]*(?:\.\d+)?)"
SECONDS = {
    "nanoseconds": 1e-9, "ns": 1e-9, "microseconds": 1e-6, "us": 1e-6,
    "milliseconds": 1e-3, "ms": 1e-3, "seconds": 1, "s": 1, "minutes": 60, "min": 60,
}  # fmt: skip
UNIT = r"(?P<unit>nanoseconds|microseconds|milliseconds|seconds|minutes)"

SLEEP = r"\b(?:sleep_for|sleep_until|usleep|nanosleep|clock_nanosleep|sleep)\("
# Patterns, each with the unit in seconds of a number that has no unit beside it.
IN_CODE = {
    "C++": [
        (UNIT + r"(?:\s+\w+)?\s*[({]\s*" + NUMBER + r"\s*[)}]", None),
        (r"(?<![\w'.])" + NUMBER + r"(?P<unit>ms|us|ns|min|s)\b", None),
        (r"\bpoll\([^;()]*,\s*" + NUMBER + r"\)", 1e-3),
        (r"\balarm\(" + NUMBER + r"\)", 1),
        (r"\btv_sec\s*=\s*" + NUMBER, 1),
        (r"\bk\w*Ms\s*[={]\s*" + NUMBER, 1e-3),
        (r"\bk\w*Seconds\s*[={]\s*" + NUMBER, 1),
    ],
    "Python": [
        (r"\b(?:timeout|limit|patience)\s*=\s*" + NUMBER, 1),
        (r"\.(?:wait|join|result)\(" + NUMBER + r"\)", 1),
    ],
    "shell": [(r"\b(?:timeout|sleep)\s+" + NUMBER, 1)],
}
STEPS = "(?:supervisor_start|backend_start|worker_start|open|scan|seek|frame|close)"
# Patterns that are searched in strings, too. For the patterns above, strings are removed.
IN_ALL = {
    "C++": [],
    "Python": [
        (rf"['\"]{STEPS}['\"]:\s*" + NUMBER, 1),
        (rf"\bfromkeys\([^\n]*{STEPS}[^\n]*,\s*" + NUMBER + r"\)", 1),
    ],
    "shell": [],
}
LIMIT = (r"\b[a-z]+-ms=" + NUMBER, 1e-3)

STRING = r'""".*?"""|"(?:\\.|[^"\\\n])*"'
COMMENTS = {"C++": r"//[^\n]*|/\*.*?\*/", "Python": r"#[^\n]*", "shell": r"(?<!\S)#[^\n]*"}


def language_of(path):
    return {"cc": "C++", "h": "C++", "py": "Python", "sh": "shell"}[path.rsplit(".", 1)[1]]


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def without(kind, text, language):
    """Returns the text with its comments or its strings replaced by blanks, so that all
    positions stay the same."""
    return re.sub(
        f"(?P<strings>{STRING})|(?P<comments>{COMMENTS[language]})",
        lambda match: blank(match) if match[kind] else match[0],
        text,
        flags=re.S,
    )


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def waits(text, language):
    """Yields the line and the text of each sleep and each short wait."""
    no_comments = without("comments", text, language)
    code = without("strings", no_comments, language)
    for match in re.finditer(SLEEP, code) if language != "shell" else ():
        yield line_of(code, match.start()), match[0] + ")"
    patterns = [(code, *pattern) for pattern in IN_CODE[language]]
    patterns += [(no_comments, *pattern) for pattern in [*IN_ALL[language], LIMIT]]
    for where, pattern, unit in patterns:
        for match in re.finditer(pattern, where):
            seconds = float(re.sub("['_]", "", match["number"])) * (unit or SECONDS[match["unit"]])
            if 0 < seconds < LEAST_SECONDS:
                yield line_of(where, match.start("number")), " ".join(match[0].split())


def markers(lines, language):
    """Returns the line of each comment `bound: REASON` with the lines that it excuses."""
    sign = "//" if language == "C++" else "#"
    found = {}
    above = True
    for number, line in enumerate(lines, 1):
        stripped = line.strip()
        above = above and (not stripped or stripped.startswith(sign))
        if not re.search(rf"{sign} bound: \S", line):
            continue
        if not stripped.startswith(sign):
            found[number] = range(number, number + 1)
        elif above:
            found[number] = range(1, len(lines) + 1)
        else:
            end = next((n for n in range(number, len(lines)) if not lines[n].strip()), len(lines))
            found[number] = range(number, end + 1)
    return found


def findings(path, text):
    language = language_of(path)
    excused = markers(without("strings", text, language).split("\n"), language)
    used = set()
    for line, words in sorted(waits(text, language)):
        excuses = {marker for marker, lines in excused.items() if line in lines}
        used |= excuses
        if not excuses:
            yield f"{path}:{line}: {words}"
    for marker in sorted(excused.keys() - used):
        yield f"{path}:{marker}: a bound that is none: there is no short wait here"


def is_test(path):
    name = path.rsplit("/", 1)[-1]
    return (
        path.endswith(ENDINGS)
        and (path.startswith("tests/") or "_test." in name)
        and not MISBEHAVING.match(path)
    )


def main(paths):
    if not paths:
        listed = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
            check=True, stdout=subprocess.PIPE, text=True,
        ).stdout  # fmt: skip
        paths = sorted(path for path in set(listed.split("\n")) if is_test(path))
    count = 0
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except FileNotFoundError:
            continue  # The file is deleted, but still in git's index.
        for finding in findings(path, text):
            print(finding)
            count += 1
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
