# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of the pages about Python, in a directory with clip.mp4."""

import os
import re
import unittest

import support
from support import clip, clip_directory


class Pages(unittest.TestCase):
    def test_examples_run(self):
        clip()
        pages = {path: os.path.abspath(path) for path in ("README.md", "core/python/README.md")}
        os.chdir(clip_directory())
        for path, file in pages.items():
            with open(file, encoding="utf-8") as page:
                blocks = re.findall(r"^```python\n(.*?)^```$", page.read(), re.M | re.S)
            self.assertTrue(blocks, path)
            names = {}  # The blocks of a page follow one another.
            for block in blocks:
                with self.subTest(page=path, block=block):
                    exec(compile(block, path, "exec"), names)


if __name__ == "__main__":
    support.main()
