# SPDX-License-Identifier: Apache-2.0
"""Rules for files that run in the sandbox, and so must not have a sanitizer.

A sanitizer's runtime makes system calls that the filters of the sandbox forbid, and maps
more memory than its limits allow. So in a build with sanitizers, the application and
bulkheadd have a sanitizer, but the reaper, the worker and the backends have none. These
are not compiled again: tools/test first builds //tests:plain_programs without a
sanitizer (the plain build) and copies the result to .cache/plain, from where the build
with sanitizers takes the copies. Builds without sanitizers use none of this.

A rule whose files run in the sandbox has the attribute `_plain_build`, passes each of
these files through `plain_file`, and names them in a PlainFilesInfo.
"""

PlainFilesInfo = provider(
    doc = "The files of a target that a build with sanitizers takes from the plain build.",
    fields = {"files": "A depset of files."},
)

# The attribute that `plain_file` reads.
PLAIN_BUILD = attr.label(default = "//tools/bazel:plain_build")

# The folder of the workspace with the copies. Each copy has the same path below it as
# the file has in the build.
_FOLDER = ".cache/plain"

def plain_file(ctx, file):
    """Returns `file` or, in a build with sanitizers, its copy from the plain build.

    Args:
      ctx: The context of a rule that has the attribute `_plain_build`.
      file: A file that runs in the sandbox.

    Returns:
      A file.
    """
    copies = ctx.files._plain_build
    if ctx.var.get("sandboxed") != "plain":
        return file
    if not copies:
        fail(_FOLDER + " is not there: with sanitizers, what runs in the sandbox is taken " +
             "from the plain build. Run tools/test with the same options, which makes it.")
    for copy in copies:
        if copy.short_path.endswith("/" + file.short_path):
            return copy
    fail("{} runs in the sandbox, and .cache/plain has no copy of it: add {} to {}".format(
        file.short_path,
        ctx.label,
        "//tests:plain_programs",
    ))

def _plain_programs_impl(ctx):
    files = depset(transitive = [target[PlainFilesInfo].files for target in ctx.attr.targets])
    folder = ctx.actions.declare_directory(ctx.label.name)
    ctx.actions.run_shell(
        arguments = [folder.path] + [
            word
            for file in files.to_list()
            for word in [file.path, file.short_path]
        ],
        command = """
set -eu
folder=$1
shift
while [ $# -gt 0 ]; do
  mkdir -p "$folder/$(dirname "$2")"
  cp --dereference --preserve=mode "$1" "$folder/$2"
  shift 2
done
""",
        inputs = files,
        mnemonic = "PlainPrograms",
        outputs = [folder],
        progress_message = "Collecting what runs in the sandbox",
    )
    return [DefaultInfo(files = depset([folder]))]

plain_programs = rule(
    implementation = _plain_programs_impl,
    attrs = {
        "targets": attr.label_list(
            doc = "Targets whose files run in the sandbox in a test with sanitizers.",
            mandatory = True,
            providers = [PlainFilesInfo],
        ),
    },
    doc = "Collects the plain files of targets in a directory with the name of the target.",
)

def _sandboxed_program_impl(ctx):
    program = plain_file(ctx, ctx.file.program)
    return [
        DefaultInfo(
            files = depset([program]),
            runfiles = ctx.runfiles([program]),
        ),
        PlainFilesInfo(files = depset([ctx.file.program])),
    ]

sandboxed_program = rule(
    implementation = _sandboxed_program_impl,
    attrs = {
        "program": attr.label(
            allow_single_file = True,
            doc = "The executable.",
            mandatory = True,
        ),
        "_plain_build": PLAIN_BUILD,
    },
    doc = "Names an executable that runs in the sandbox.",
)

def _plain_build_repository_impl(ctx):
    # The folder need not exist: only tools/test with a sanitizer makes it.
    folder = ctx.path(Label("//:WORKSPACE")).dirname.get_child(".cache").get_child("plain")
    ctx.symlink(folder, "plain")
    ctx.file("BUILD", """
filegroup(
    name = "files",
    srcs = glob(["plain/**"]),
    visibility = ["//visibility:public"],
)
""", executable = False)

plain_build_repository = repository_rule(
    implementation = _plain_build_repository_impl,
    doc = "Names the files in {}.".format(_FOLDER),
    local = True,
)
