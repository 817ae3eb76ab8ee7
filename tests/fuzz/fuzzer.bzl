# SPDX-License-Identifier: Apache-2.0
"""Fuzzers, each of which is an ordinary test as well."""

def bulkhead_fuzzer(name, deps, data = []):
    """Declares the fuzzer in NAME_fuzzer.cc with the corpus in corpus/NAME.

    NAME_replay_test passes each file of the corpus to the fuzzer. The corpora
    are the only files that the build globs: a finding is added by copying its
    file into the folder.

    NAME_fuzz is the program that tools/fuzz builds and runs. It needs
    --config=fuzz.

    Args:
      name: The name that tools/fuzz takes.
      deps: What NAME_fuzzer.cc includes, beside tests/fuzz/check.h.
      data: Built files that the fuzzer needs at run time.
    """
    corpus = native.glob(["corpus/{}/*".format(name)])
    native.cc_library(
        name = name + "_fuzzer",
        srcs = [name + "_fuzzer.cc"],
        hdrs = ["check.h"],
        data = data,
        deps = deps,
        alwayslink = True,
    )
    native.cc_binary(
        name = name + "_fuzz",
        linkopts = ["-fsanitize=fuzzer"],
        tags = [
            "fuzz",
            "manual",
        ],
        deps = [":{}_fuzzer".format(name)],
    )
    native.cc_test(
        name = name + "_replay_test",
        size = "small",
        srcs = ["replay_test.cc"],
        tags = ["unit"],
        data = corpus,
        env = {"BULKHEAD_TEST_CORPUS": " ".join([
            "$(rootpath {})".format(file)
            for file in corpus
        ])},
        deps = [
            ":{}_fuzzer".format(name),
            "@gtest//:gtest_main",
        ],
    )
