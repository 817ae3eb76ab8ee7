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
library="$1" installed="$2" record="$3" root="$4"
shift 4
cp "$library" "$installed"
chmod 0755 "$installed"
for file in "$installed" "$@"; do
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
        "devices = " + _toml_list(ctx.attr.devices),
        "",
    ] + ctx.attr.manifest))

    described = [metadata, entry_points, manifest]
    installed = ctx.actions.declare_file("dist/{}/{}".format(
        ctx.attr.module_path,
        ctx.file.library.basename,
    ))
    record = ctx.actions.declare_file(info + "RECORD")
    root = record.dirname.rpartition("/")[0]

    ctx.actions.run_shell(
        arguments = [
            ctx.file.library.path,
            installed.path,
            record.path,
            root,
        ] + [file.path for file in described],
        command = _LAY_OUT,
        inputs = [ctx.file.library] + described,
        mnemonic = "BulkheadDistribution",
        outputs = [installed, record],
        progress_message = "Laying out distribution " + stem,
    )

    files = depset(described + [installed, record])
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
            doc = "Device names reserved in bulkhead.toml.",
            mandatory = True,
        ),
        "distribution": attr.string(
            doc = "Name of the distribution, as a package index would list it.",
            mandatory = True,
        ),
        "entry_points": attr.string_dict(
            doc = "Name of each backend and its `module:attr`.",
            mandatory = True,
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
        "summary": attr.string(
            doc = "One line for people.",
            mandatory = True,
        ),
        "version": attr.string(
            doc = "PEP 440 version.",
            mandatory = True,
        ),
    },
    doc = "Lays out one shared object with its metadata under `dist`.",
)
