# SPDX-License-Identifier: Apache-2.0
"""Lays out a backend as an installed distribution.

What comes out is what a wheel, a Debian package or a tarball would install:
the shared object under its module's folder, and beside it the dist-info
directory by which Bulkhead finds it. The folder `dist` of the package that
uses the rule can be put on the plugin path as it is.
"""

# The digest as wheels write it: base64 for URLs, without padding.
_LAY_OUT = """
set -eu
record="$1" root="$2" module="$3" count="$4"
shift 4
while [ "$count" -gt 0 ]; do
  installed="$module/${1##*/}"
  cp "$1" "$installed"
  chmod 0755 "$installed"
  shift
  set -- "$@" "$installed"
  count=$((count - 1))
done
for file in "$@"; do
  hex=$(sha256sum "$file" | cut -c1-64)
  digest=$(printf "$(printf %s "$hex" | sed 's/../\\\\x&/g')" |
    base64 | tr '+/' '-_' | tr -d '=\\n')
  printf '%s,sha256=%s,%s\\n' "${file#"$root"/}" "$digest" \\
    "$(stat -Lc %s "$file")"
done > "$record"
printf '%s,,\\n' "${record#"$root"/}" >> "$record"
"""

def _toml_list(values):
    return "[" + ", ".join(["\"{}\"".format(value) for value in values]) + "]"

def _bulkhead_distribution_impl(ctx):
    stem = "{}-{}".format(
        ctx.attr.distribution.replace("-", "_"),
        ctx.attr.version,
    )
    info = "dist/{}.dist-info/".format(stem)

    metadata = ctx.actions.declare_file(info + "METADATA")
    ctx.actions.write(metadata, "\n".join([
        "Metadata-Version: 2.1",
        "Name: " + ctx.attr.distribution,
        "Version: " + ctx.attr.version,
        "Summary: " + ctx.attr.summary,
        "License: " + ctx.attr.license,
        "",
    ]))

    entry_points = ctx.actions.declare_file(info + "entry_points.txt")
    ctx.actions.write(entry_points, "\n".join(["[bulkhead.backends]"] + [
        "{} = {}".format(name, ctx.attr.entry_points[name])
        for name in sorted(ctx.attr.entry_points)
    ] + [""]))

    manifest = ctx.actions.declare_file(info + "bulkhead.toml")
    ctx.actions.write(manifest, "\n".join([
        "schema_version = 1",
        "abi = {}".format(ctx.attr.abi),
    ] + ([
        "devices = " + _toml_list(ctx.attr.devices),
    ] if ctx.attr.devices else []) + ([
        "streams = " + _toml_list(ctx.attr.streams),
    ] if ctx.attr.streams else []) + ([
        "worker_scope = \"{}\"".format(ctx.attr.worker_scope),
    ] if ctx.attr.worker_scope else []) + [
        "",
    ] + ctx.attr.manifest))

    described = [metadata, entry_points, manifest]
    libraries = [ctx.file.library] + ctx.files.further_libraries
    installed = [
        ctx.actions.declare_file("dist/{}/{}".format(
            ctx.attr.module_path,
            library.basename,
        ))
        for library in libraries
    ]
    record = ctx.actions.declare_file(info + "RECORD")
    root = record.dirname.rpartition("/")[0]

    ctx.actions.run_shell(
        arguments = [
            record.path,
            root,
            installed[0].dirname,
            str(len(libraries)),
        ] + [file.path for file in libraries + described],
        command = _LAY_OUT,
        inputs = libraries + described,
        mnemonic = "BulkheadDistribution",
        outputs = installed + [record],
        progress_message = "Laying out distribution " + stem,
    )

    files = depset(described + installed + [record])
    return [DefaultInfo(
        files = files,
        runfiles = ctx.runfiles(transitive_files = files),
    )]

bulkhead_distribution = rule(
    implementation = _bulkhead_distribution_impl,
    attrs = {
        "abi": attr.int(
            default = 1,
            doc = "BULKHEAD_ABI_VERSION that the library was built against.",
        ),
        "devices": attr.string_list(
            doc = "Device names reserved in bulkhead.toml; none: each entry " +
                  "point has one device of its own name.",
        ),
        "distribution": attr.string(
            doc = "Name of the distribution, as a package index would list it.",
            mandatory = True,
        ),
        "entry_points": attr.string_dict(
            doc = "Name of each backend and its `module:attr`.",
            mandatory = True,
        ),
        "further_libraries": attr.label_list(
            allow_files = [".so"],
            doc = "Shared objects beside the first, such as of further " +
                  "entry points.",
        ),
        "library": attr.label(
            allow_single_file = [".so"],
            doc = "The shared object.",
            mandatory = True,
        ),
        "license": attr.string(
            default = "Apache-2.0",
            doc = "SPDX expression.",
        ),
        "manifest": attr.string_list(
            doc = "Further lines of bulkhead.toml, such as permissions.",
        ),
        "module_path": attr.string(
            doc = "Folder of the library below the root of the distribution.",
            mandatory = True,
        ),
        "streams": attr.string_list(
            doc = "Kinds of stream that it decodes, of \"video\" and " +
                  "\"audio\"; none: video.",
        ),
        "summary": attr.string(
            doc = "One line for people.",
            mandatory = True,
        ),
        "version": attr.string(
            doc = "PEP 440 version.",
            mandatory = True,
        ),
        "worker_scope": attr.string(
            doc = "\"backend\": one worker serves all sessions.",
            values = ["", "session", "backend"],
        ),
    },
    doc = "Lays out shared objects with their metadata under `dist`.",
)
