# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of the pages about Python, in a directory with clip.mp4."""

import os
import unittest

import support
from support import clip, clip_directory


class Pages(unittest.TestCase):
    def run_examples(self, page):
        blocks = support.examples(page)
        self.assertTrue(blocks)
        clip()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(clip_directory())
        names = {}  # The blocks of a page follow one another.
        for block in blocks:
            with self.subTest(block=block):
                exec(compile(block, page, "exec"), names)

    def test_readme(self):
        self.run_examples("README.md")

    def test_the_package(self):
        self.run_examples("core/python/README.md")

    @support.needs_torch
    @support.needs_semaphores
    def test_from_torchcodec(self):
        self.run_examples("core/python/from_torchcodec.md")


if __name__ == "__main__":
    support.main()
