# SPDX-License-Identifier: Apache-2.0
"""Lays out a backend as an installed distribution.

The output is what a wheel, a Debian package or a tarball would install: the
shared object in the folder of its module, and beside that folder the dist-info
directory by which Bulkhead finds the backend. The output folder `dist` can be
put on the plugin path as it is.
"""

load("//tools/bazel:plain_build.bzl", "PLAIN_BUILD", "PlainFilesInfo", "plain_file")

# Digests have the form that wheels use: base64 for URLs, without padding.
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
        "abi = {}".format(ctx.attr.abi[0] if len(ctx.attr.abi) == 1 else ctx.attr.abi),
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
    built = [ctx.file.library] + ctx.files.further_libraries
    libraries = [plain_file(ctx, library) for library in built]
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
    return [
        DefaultInfo(
            files = files,
            runfiles = ctx.runfiles(transitive_files = files),
        ),
        PlainFilesInfo(files = depset(built)),
    ]

_distribution = rule(
    implementation = _bulkhead_distribution_impl,
    attrs = {
        "abi": attr.int_list(
            default = [1],
            doc = "The version of the ABI that the library serves, or the " +
                  "oldest and the newest one.",
        ),
        "devices": attr.string_list(
            doc = "The device names that bulkhead.toml reserves. If empty, " +
                  "each entry point has one device of its own name.",
        ),
        "distribution": attr.string(
            doc = "The distribution's name in a package index.",
            mandatory = True,
        ),
        "entry_points": attr.string_dict(
            doc = "Maps the name of each backend to its `module:attr`.",
            mandatory = True,
        ),
        "further_libraries": attr.label_list(
            allow_files = [".so"],
            doc = "More shared objects to install beside `library`, for " +
                  "example those of other entry points.",
        ),
        "library": attr.label(
            allow_single_file = [".so"],
            doc = "The backend's shared object.",
            mandatory = True,
        ),
        "license": attr.string(
            default = "Apache-2.0",
            doc = "The license, as an SPDX expression.",
        ),
        "manifest": attr.string_list(
            doc = "More lines for bulkhead.toml, such as permissions.",
        ),
        "module_path": attr.string(
            doc = "The folder of the library below the distribution's root.",
            mandatory = True,
        ),
        "streams": attr.string_list(
            doc = "The kinds of streams that the backend decodes: \"video\", " +
                  "\"audio\" or both. If empty, video.",
        ),
        "summary": attr.string(
            doc = "A one-line description.",
            mandatory = True,
        ),
        "version": attr.string(
            doc = "The version, as in PEP 440.",
            mandatory = True,
        ),
        "worker_scope": attr.string(
            doc = "With \"backend\", one worker serves all sessions; " +
                  "otherwise each session has its own.",
            values = ["", "session", "backend"],
        ),
        "_plain_build": PLAIN_BUILD,
    },
    doc = "Lays out shared objects with their metadata under `dist`.",
)

def bulkhead_distribution(
        name,
        distribution,
        module_path = None,
        library = None,
        devices = None,
        entry_points = None,
        version = "0.1.0",
        **kwargs):
    """Lays out a backend under `dist`. What is not given follows the distribution's name.

    Args:
      name: The name of the target.
      distribution: The distribution's name in a package index, for example
        bulkhead-acme.
      module_path: The folder of the library: bulkhead_acme.
      library: The shared object: libbulkhead_acme.so of the same package.
      devices: The devices that bulkhead.toml reserves: acme. If empty, each entry
        point has one device of its own name.
      entry_points: Maps the name of each backend to its `module:attr`: acme to
        bulkhead_acme.libbulkhead_acme:bulkhead_acme_backend.
      version: The version, as in PEP 440.
      **kwargs: Further attributes: see the rule above.
    """
    module = module_path or distribution.replace("-", "_")
    device = module[len("bulkhead_"):] if module.startswith("bulkhead_") else module
    if devices == None:
        devices = [] if entry_points else [device]
    _distribution(
        name = name,
        devices = devices,
        distribution = distribution,
        entry_points = entry_points or {
            device: "{0}.lib{0}:{0}_backend".format(module),
        },
        library = library or ":lib{}.so".format(module),
        module_path = module,
        version = version,
        **kwargs
    )
