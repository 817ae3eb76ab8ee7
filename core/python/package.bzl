# SPDX-License-Identifier: Apache-2.0
"""Puts a package of Python together as an installation has it."""

def _python_package_impl(ctx):
    copies = []
    for file in ctx.files.srcs:
        copy = ctx.actions.declare_file("{}/{}/{}".format(
            ctx.label.name,
            ctx.attr.package,
            file.basename,
        ))
        ctx.actions.run_shell(
            arguments = [file.path, copy.path],
            command = "cp --dereference --preserve=mode \"$1\" \"$2\"",
            inputs = [file],
            mnemonic = "PythonPackageCopy",
            outputs = [copy],
            progress_message = "Copying " + copy.short_path,
        )
        copies.append(copy)
    files = depset(copies)
    return [DefaultInfo(
        files = files,
        runfiles = ctx.runfiles(transitive_files = files),
    )]

python_package = rule(
    implementation = _python_package_impl,
    attrs = {
        "package": attr.string(
            doc = "The name of the package.",
            mandatory = True,
        ),
        "srcs": attr.label_list(
            allow_files = True,
            doc = "The modules, and what lies beside them.",
        ),
    },
    doc = "Copies the files into NAME/PACKAGE, so that NAME can be on sys.path.",
)
