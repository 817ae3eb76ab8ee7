# SPDX-License-Identifier: Apache-2.0
"""Merges a cc_library and its dependencies into one archive.

Programs outside of this repository link the archive. It has the libraries of this
repository only. Libraries of the system stay shared, and the program names them itself.
"""

def _static_library_impl(ctx):
    objects = []
    cc_info = ctx.attr.library[CcInfo]  # buildifier: disable=native-cc-info
    for linker_input in cc_info.linking_context.linker_inputs.to_list():
        for library in linker_input.libraries:
            # Users link the archive into shared objects and position-independent
            # programs, too.
            objects += library.pic_objects or library.objects
    archive = ctx.actions.declare_file(ctx.label.name)
    arguments = ctx.actions.args()
    arguments.add(archive)
    arguments.add_all(objects)
    ctx.actions.run_shell(
        arguments = [arguments],
        # D leaves out dates and owners. P keeps objects of the same name from different
        # folders apart in the index.
        command = "rm -f \"$1\" && ar qcDP \"$@\" && ar sD \"$1\"",
        inputs = objects,
        mnemonic = "StaticLibrary",
        outputs = [archive],
        progress_message = "Merging " + archive.short_path,
    )
    return [DefaultInfo(files = depset([archive]))]

static_library = rule(
    implementation = _static_library_impl,
    attrs = {
        "library": attr.label(
            mandatory = True,
            providers = [CcInfo],  # buildifier: disable=native-cc-info
            doc = "The library to merge.",
        ),
    },
    doc = "One archive, named as the target, with the objects of a cc_library and its dependencies.",
)
