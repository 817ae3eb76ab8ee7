# SPDX-License-Identifier: Apache-2.0
"""Packs a backend as a wheel, which `bulkhead install` and pip install.

A wheel is a zip file with the distribution that bulkhead_distribution lays out,
a WHEEL file, and a RECORD of all files. The same files always give the same
bytes, since zipper gives every entry the same date.
"""

# Sets file modes explicitly, since Bazel makes every output executable. Digests
# have the form that wheels use: base64 for URLs, without padding.
_PACK = """
set -eu
zipper="$1" wheel="$2" root="$3" stem="$4" tag="$5"
shift 5
staging=$(mktemp -d)
trap 'rm -rf "$staging"' EXIT
info="$stem.dist-info"
for file in "$@"; do
  path="${file#"$root"/}"
  [ "$path" != "$info/RECORD" ] || continue
  mkdir -p "$staging/${path%/*}"
  cp --dereference "$file" "$staging/$path"
  case "$path" in
    *.so | *.so.*) chmod 0755 "$staging/$path" ;;
    *) chmod 0644 "$staging/$path" ;;
  esac
done
printf '%s\\n' 'Wheel-Version: 1.0' 'Generator: bulkhead_wheel' \\
  'Root-Is-Purelib: false' "Tag: $tag" > "$staging/$info/WHEEL"
chmod 0644 "$staging/$info/WHEEL"

cd "$staging"
find . -type f | sed 's|^\\./||' | LC_ALL=C sort > "$staging.paths"
while IFS= read -r path; do
  hex=$(sha256sum < "$path" | cut -c1-64)
  digest=$(printf "$(printf %s "$hex" | sed 's/../\\\\x&/g')" |
    base64 | tr '+/' '-_' | tr -d '=\\n')
  printf '%s,sha256=%s,%s\\n' "$path" "$digest" "$(stat -c %s "$path")"
done < "$staging.paths" > "$staging.record"
printf '%s,,\\n' "$info/RECORD" >> "$staging.record"
mv "$staging.record" "$info/RECORD"
chmod 0644 "$info/RECORD"
# RECORD comes last, as the specification recommends.
printf '%s\\n' "$info/RECORD" >> "$staging.paths"
set --
while IFS= read -r path; do
  set -- "$@" "$path=$staging/$path"
done < "$staging.paths"
rm "$staging.paths"
cd - > /dev/null
"$zipper" cC "$wheel" "$@"
"""

def _bulkhead_wheel_impl(ctx):
    records = [
        file
        for file in ctx.files.distribution
        if file.path.endswith(".dist-info/RECORD")
    ]
    if len(records) != 1:
        fail("{} has {} RECORDs, not one".format(ctx.attr.distribution.label, len(records)))
    root, _, info = records[0].dirname.rpartition("/")
    stem = info[:-len(".dist-info")]
    tag = "py3-none-" + ctx.attr.platform
    wheel = ctx.actions.declare_file("{}-{}.whl".format(stem, tag))
    ctx.actions.run_shell(
        arguments = [ctx.executable._zipper.path, wheel.path, root, stem, tag] +
                    [file.path for file in ctx.files.distribution],
        command = _PACK,
        inputs = ctx.files.distribution,
        mnemonic = "BulkheadWheel",
        outputs = [wheel],
        progress_message = "Packing " + wheel.basename,
        tools = [ctx.executable._zipper],
    )
    return [DefaultInfo(
        files = depset([wheel]),
        runfiles = ctx.runfiles(files = [wheel]),
    )]

bulkhead_wheel = rule(
    implementation = _bulkhead_wheel_impl,
    attrs = {
        "distribution": attr.label(
            doc = "A target of bulkhead_distribution.",
            mandatory = True,
        ),
        "platform": attr.string(
            default = "linux_x86_64",
            doc = "The platform tag of the shared objects.",
        ),
        "_zipper": attr.label(
            cfg = "exec",
            default = "@bazel_tools//tools/zip:zipper",
            executable = True,
        ),
    },
    doc = "Packs one distribution into NAME-VERSION-py3-none-PLATFORM.whl.",
)
