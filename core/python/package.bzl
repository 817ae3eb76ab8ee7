# SPDX-License-Identifier: Apache-2.0
"""Puts a package of Python together as an installation has it."""

def _python_package_impl(ctx):
    # Bazel empties a declared directory before each build. Of single files, one whose
    # source is gone would stay, and tools that read the directory would find it.
    package = ctx.actions.declare_directory("{}/{}".format(ctx.label.name, ctx.attr.package))
    arguments = ctx.actions.args()
    arguments.add_all([package], expand_directories = False)
    arguments.add_all(ctx.files.srcs)
    ctx.actions.run_shell(
        arguments = [arguments],
        command = "to=$1; shift; cp --dereference --preserve=mode --target-directory=\"$to\" \"$@\"",
        inputs = ctx.files.srcs,
        mnemonic = "PythonPackage",
        outputs = [package],
        progress_message = "Copying the package " + package.short_path,
    )
    files = depset([package])
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
    doc = "Copies the files into the directory NAME/PACKAGE, so that NAME can be on sys.path.",
)
