# SPDX-License-Identifier: Apache-2.0
"""The page shows every figure of its runs, and says what is missing."""

import json
import os
import tempfile
import unittest

from figures import Runs
from small_svg import write_small

try:
    import matplotlib
except ImportError:
    matplotlib = None


def series(name, *values):
    values = list(values)
    middle = sorted(values)[len(values) // 2]
    return {
        "name": name,
        "unit": "",
        "median": middle,
        "lowest": min(values),
        "highest": max(values),
        "values": values,
    }


def run(benchmark, *tables):
    return {
        "benchmark": benchmark,
        "machine": {"processor": "Abacus", "processors": 2, "load_before": 0.25},
        "rounds": 5,
        "commit": "c0ffee",
        "tables": [
            {"title": title, "rows": rows, "notes": []} for title, rows in tables
        ],
    }


def decoding(codec, height, threads, ours, ratio):
    return {
        "of": {
            "codec": codec,
            "height": height,
            "threads": threads,
            "output": "RGB24",
        },
        "series": [series("Bulkhead", ours), series("Bulkhead / libav", ratio)],
    }


MATRIX = run(
    "matrix",
    (
        "Decoding in order",
        [
            decoding("H.264", 480, 1, 611, 0.97),
            decoding("H.264", 480, 2, 1222, 0.98),
            decoding("AV1", 2160, 1, 33, 0.93),
        ],
    ),
)
CLIPS = run(
    "clips",
    (
        "100 clips",
        [
            {
                "of": {"at once": 8, "decoder": "Bulkhead"},
                "series": [series("clips", 71, 73, 74)],
            },
            {
                "of": {"at once": 8, "decoder": "PyAV"},
                "not_reached": "it is not installed",
            },
        ],
    ),
)


SVG = """<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9pt">
 <metadata>who made it</metadata>
 <g id="figure_1">
  <g id="patch_1" clip-path="url(#clip)">
   <path id="mark" d="M 1.123456 2
L 30.00000 -0.5" style="stroke-width: 0.123456"/>
  </g>
  <text id="text_1" x="1.5" transform="rotate(-0 1.5 2.0)">a &lt; b</text>
  <use xlink:href="#mark" x="3.14159"/>
 </g>
</svg>"""


class SmallSvg(unittest.TestCase):
    def test_the_picture_stays_and_the_rest_goes(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "a.svg")
            write_small(path, SVG)
            with open(path, encoding="utf-8") as file:
                text = file.read()
        self.assertIn('<path id="mark" d="M 1.12 2 L 30 -0.5"', text)
        self.assertIn("stroke-width: 0.123456", text)
        self.assertIn('<g clip-path="url(#clip)">', text)
        self.assertIn('<text x="1.5">a &lt; b</text>', text)
        self.assertIn('x="3.14"', text)
        for gone in ("figure_1", "text_1", "metadata", "rotate"):
            self.assertNotIn(gone, text)


class PageTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def write(self, *runs):
        paths = []
        for one in runs:
            paths.append(os.path.join(self.directory.name, one["benchmark"]))
            with open(paths[-1], "w", encoding="utf-8") as file:
                json.dump(one, file)
        return Runs(paths)

    def test_tables_are_found_by_what_they_are_about(self):
        runs = self.write(MATRIX, CLIPS)
        table = runs.table("matrix", "Decoding")
        self.assertEqual(table.values("codec"), ["H.264", "AV1"])
        of = {"codec": "H.264", "height": 480, "threads": 2}
        self.assertEqual(table.median("Bulkhead", **of), (1222, 1222, 1222))
        self.assertIsNone(table.median("Bulkhead", codec="VP9"))
        self.assertIsNone(table.median("another series", **of))
        self.assertEqual(
            table.line("height", "Bulkhead / libav", threads=1),
            ([480, 2160], [0.97, 0.93]),
        )
        clips = runs.table("clips", "")
        self.assertEqual(clips.not_reached(decoder="PyAV"), "it is not installed")
        self.assertIsNone(clips.median("clips", decoder="PyAV"))
        self.assertIsNone(runs.table("ring", ""))

    def test_the_origin_names_machine_commit_and_rounds(self):
        other = dict(CLIPS, commit="decade")
        self.assertEqual(
            self.write(MATRIX, other).origin(),
            "Abacus, 2 processors, load at most 0.2 before a run · "
            "commit c0ffee, decade · medians of 5 rounds",
        )

    @unittest.skipUnless(matplotlib, "matplotlib is not there; tools/setup --page installs it")
    def test_the_page_has_each_figure(self):
        import page

        path = os.path.join(self.directory.name, "page.svg")
        page.draw_page(self.write(MATRIX, CLIPS)).savefig(path)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for wanted in (
            "Decoding in order to RGB24, 2 threads",
            ">611<",
            ">1222<",
            ">0.93<",
            ">73<",
            ">8 at once<",
            "Abacus",
            "c0ffee",
            "no figures: tools/bench --ring",
            "no figures: tools/bench --matrix",
        ):
            # assertIn() would print the whole page.
            self.assertTrue(wanted in text, wanted)

    @unittest.skipUnless(matplotlib, "matplotlib is not there; tools/setup --page installs it")
    def test_one_thing_has_one_colour(self):
        from plots import LIBAV, colour

        self.assertEqual(colour("Bulkhead: listing"), colour("the ring of a session"))
        names = ["Bulkhead", LIBAV, "PyAV 10.0.0", "OpenCV 4.6.0", "futex"]
        self.assertEqual(len({colour(name) for name in names}), len(names))


if __name__ == "__main__":
    unittest.main(verbosity=2)
