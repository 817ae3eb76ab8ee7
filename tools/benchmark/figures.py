# SPDX-License-Identifier: Apache-2.0
"""Reads the figures of earlier runs of tools/bench, for page.py.

A run's JSON is {"benchmark", "machine", "rounds", "commit", "tables"}, a table
{"title", "rows", "notes"}, a row {"of", "series"} or {"of", "not_reached"}
(table.h).
"""

import json


class Table:
    """One table of a run."""

    def __init__(self, facts):
        self.title = facts["title"]
        self.rows = facts["rows"]

    def values(self, key):
        """Returns the distinct values of a key, in the order of the rows."""
        return list(dict.fromkeys(row["of"][key] for row in self.rows))

    def row(self, **of):
        """Returns the first row with these keys and values, or None."""
        for row in self.rows:
            if all(row["of"].get(key) == value for key, value in of.items()):
                return row
        return None

    def median(self, series, **of):
        """Returns (median, lowest, highest) of a series, or None."""
        row = self.row(**of)
        for one in (row or {}).get("series", []):
            if one["name"] == series and one["values"]:
                return one["median"], one["lowest"], one["highest"]
        return None

    def not_reached(self, **of):
        """Returns the reason why the row was not measured, or None."""
        return (self.row(**of) or {}).get("not_reached")

    def line(self, key, series, **of):
        """Returns the values of `key` and, for each, the median of a series."""
        points = [
            (value, self.median(series, **{key: value}, **of))
            for value in self.values(key)
        ]
        points = [(value, median[0]) for value, median in points if median]
        return [value for value, _ in points], [median for _, median in points]


class BadRun(Exception):
    """An error in a file of figures; its text is for the user."""


class Runs:
    """The runs that a page is drawn from, one of each benchmark."""

    def __init__(self, paths):
        self.runs = {}
        for path in paths:
            try:
                with open(path, encoding="utf-8") as file:
                    run = json.load(file)
                self.runs[run["benchmark"]] = run
            except OSError as error:
                raise BadRun("cannot read a run: %s" % error) from error
            except (ValueError, TypeError, KeyError) as error:
                raise BadRun(
                    "%s has no figures that tools/bench --json wrote" % path
                ) from error

    def table(self, benchmark, title):
        """Returns the first table whose title begins with `title`, or None."""
        for facts in self.runs.get(benchmark, {}).get("tables", []):
            if facts["title"].startswith(title):
                return Table(facts)
        return None

    def origin(self):
        """Returns the machine, the commit and the rounds, for the top of a page.

        If the runs differ in one of these, all values are listed.
        """

        def distinct(of):
            found = dict.fromkeys(of(run) for run in self.runs.values())
            return ", ".join(str(one) for one in found)

        machine = distinct(
            lambda run: "%s, %s processors"
            % (run["machine"]["processor"], run["machine"]["processors"])
        )
        loads = [run["machine"].get("load_before", 0) for run in self.runs.values()]
        commit = distinct(lambda run: run.get("commit", "unknown"))
        rounds = distinct(lambda run: run["rounds"])
        return "%s, load at most %.1f before a run · commit %s · medians of %s rounds" % (
            machine,
            max(loads, default=0),
            commit,
            rounds,
        )
