# SPDX-License-Identifier: Apache-2.0
"""Collects the programs that libbulkhead starts in one directory.

The directory has the layout of an installed /usr/lib/bulkhead/libexec, so that
BULKHEAD_LIBEXEC_DIR can name either. It contains the programs, files for operators, and
`backends` with the distributions that come with Bulkhead.
"""

load("//tools/bazel:plain_build.bzl", "PLAIN_BUILD", "PlainFilesInfo", "plain_file")

# The part of an input path before the name of the distribution: the file `dist/NAME/...`
# of a package becomes `backends/NAME/...`.
_MARK = "/dist/"

def _copy(ctx, file, path):
    copy = ctx.actions.declare_file(ctx.label.name + "/" + path)
    ctx.actions.run_shell(
        arguments = [file.path, copy.path],
        command = "cp --dereference --preserve=mode \"$1\" \"$2\"",
        inputs = [file],
        mnemonic = "LibexecCopy",
        outputs = [copy],
        progress_message = "Copying " + copy.short_path,
    )
    return copy

def _libexec_directory_impl(ctx):
    sandboxed = [plain_file(ctx, file) for file in ctx.files.sandboxed]
    supervisor = ctx.file.supervisor
    if ctx.var.get("supervisor") == "plain":
        supervisor = plain_file(ctx, supervisor)
    copies = [
        _copy(ctx, file, file.basename)
        for file in [supervisor] + sandboxed + ctx.files.files
    ]
    for file in ctx.files.distributions:
        before, mark, path = file.short_path.partition(_MARK)
        if not mark:
            fail("{} is not below a folder `dist`: {}".format(before, file))
        copies.append(_copy(ctx, file, "backends/" + path))
    files = depset(copies)
    return [
        DefaultInfo(
            files = files,
            runfiles = ctx.runfiles(transitive_files = files),
        ),
        PlainFilesInfo(files = depset(
            [ctx.file.supervisor] + ctx.files.sandboxed,
            transitive = [one[PlainFilesInfo].files for one in ctx.attr.distributions],
        )),
    ]

libexec_directory = rule(
    implementation = _libexec_directory_impl,
    attrs = {
        "distributions": attr.label_list(
            doc = "Targets made by bulkhead_distribution.",
            providers = [PlainFilesInfo],
        ),
        "files": attr.label_list(
            allow_files = True,
            doc = "Other files, copied with their names unchanged.",
        ),
        "sandboxed": attr.label_list(
            doc = "Executables that run in the sandbox, copied with their names unchanged.",
        ),
        "supervisor": attr.label(
            allow_single_file = True,
            doc = "bulkheadd, which starts the others. With --define=supervisor=plain, it " +
                  "comes from the plain build as well.",
            mandatory = True,
        ),
        "_plain_build": PLAIN_BUILD,
    },
    doc = "Copies programs and distributions into a directory with the name of the target.",
)
