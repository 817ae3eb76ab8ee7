#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# reference_test.sh PREFIX.TAR: compares the installed man pages and completions with
# the help of the installed program: each subcommand and each option of the one is in
# the other.
set -euo pipefail

work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/reference.XXXXXX")
trap 'rm -rf "$work"' EXIT
tar --extract --file "$1" --directory "$work"
cd "$work"
program=$work/bin/bulkhead

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# Prints the relative links of the installed documents that lead nowhere. Examples in
# C++ have lambdas, which look like links.
dead_links() {
  find share/doc -name '*.md' | while read -r page; do
    # shellcheck disable=SC2016 # Backquotes of Markdown.
    sed -e '/^```/,/^```/d' -e 's/`[^`]*`//g' "$page" | { grep -oE '\]\([^()# ]+' || true; } | cut -c 3- |
      while read -r target; do
        [[ $target == *://* || -e $(dirname "$page")/$target ]] || echo "$page: $target"
      done
  done
}
[[ -z $(dead_links) ]] || fail "documents have dead links: $(dead_links)"
(($(grep -l 'include/bulkhead' -r share/doc --include='*.md' | wc -l) > 3)) ||
  fail "no links to headers"

# Prints the names of options in the --help of a command, each on a line.
options_of() {
  "$program" "$@" --help | grep -oE '^  (-[A-Za-z],)?--?[A-Za-z][-a-z0-9]*' |
    tr -d ' ' | tr ',' '\n' | sort -u
}

# Prints the names of options in a man page, as a reader sees them.
options_in_page() {
  sed -n '/^\.SH OPTIONS/,/^\.SH NOTES/p' "$1" | grep -A1 '^\.TP' |
    sed -e 's/\\f[BIR]//g' -e 's/\\-/-/g' | grep -oE '(^|, )--?[A-Za-z][-a-z0-9]*' |
    tr -d ', ' | sort -u
}

# Prints what bash offers for the last of the words.
offers() {
  bash -c '
    source "$1"; shift
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
    compopt() { :; }
    _bulkhead
    printf "%s\n" "${COMPREPLY[@]}"' bash share/bash-completion/completions/bulkhead "$@" |
    sort -u
}

# Prints the subcommands in the --help of a command, each on a line.
subcommands_of() {
  "$program" "$@" --help | sed -n '/^Subcommands:/,/^$/p' |
    { grep -oE '^  [a-z][-a-z]*' || true; } | tr -d ' '
}

mapfile -t commands < <(subcommands_of)
nested=0
((${#commands[@]} > 15)) || fail "--help lists ${#commands[@]} subcommands"

diff <(printf '%s\n' "${commands[@]}" | sort) <(offers bulkhead '' | grep -v '^-') ||
  fail "bash offers other subcommands"
diff <(options_of | sort) <(offers bulkhead -) || fail "bash offers other options"
diff <(options_of) <(options_in_page share/man/man1/bulkhead.1) ||
  fail "bulkhead(1) has other options"

for command in "${commands[@]}"; do
  page=share/man/man1/bulkhead-$command.1
  diff <(options_of "$command") <(options_in_page "$page") ||
    fail "$page has other options than $command --help"
  diff <({ options_of; options_of "$command"; } | sort -u) <(offers bulkhead "$command" -) ||
    fail "bash offers other options of $command"
  grep -qF "bulkhead\\-${command//-/\\-}" share/man/man1/bulkhead.1 || fail "bulkhead(1) lacks $command"
  for option in $(options_of "$command"); do
    grep -qF -- "${option}[" <(sed -n "/^      $command)/,/;;/p" share/zsh/site-functions/_bulkhead) ||
      fail "zsh does not offer $option of $command"
    case $option in
      --*) word="-l ${option#--}" ;;
      *) word="-s ${option#-}" ;;
    esac
    grep -qE -- "__fish_seen_subcommand_from $command' .*$word( |$)" \
      share/fish/vendor_completions.d/bulkhead.fish || fail "fish does not offer $option of $command"
  done
  for subcommand in $(subcommands_of "$command"); do
    grep -qF "$command $subcommand\\fR" "$page" || fail "$page lacks $command $subcommand"
    grep -qxF "$subcommand" <(offers bulkhead "$command" '') ||
      fail "bash does not offer $command $subcommand"
    grep -qE "subcommand:.*\b$subcommand\b" <(sed -n "/^      $command)/,/;;/p" share/zsh/site-functions/_bulkhead) ||
      fail "zsh does not offer $command $subcommand"
    grep -qE -- "__fish_seen_subcommand_from $command; .* -a $subcommand " \
      share/fish/vendor_completions.d/bulkhead.fish || fail "fish does not offer $command $subcommand"
    nested=$((nested + 1))
  done
  [[ $(sed -n '/^\.SH NAME/{n;s/\\-/-/g;p}' "$page") == "bulkhead-$command - "* ]] ||
    fail "$page has no name"
done
((nested >= 2)) || fail "--help of all commands lists $nested subcommands of their own"
((${#commands[@]} + 1 == $(find share/man/man1 -name 'bulkhead*.1' | wc -l))) ||
  fail "there are pages of commands that do not exist"

diff <(printf 'error\nnearest\nshow\nskip\n') <(offers bulkhead decode --on-corrupt '') ||
  fail "bash does not offer the values of --on-corrupt"
touch clip.mp4
[[ $(offers bulkhead decode clip) == clip.mp4 ]] || fail "bash does not offer files"
for shell in bash fish zsh; do
  file=$(find share -path "*$shell*" -type f)
  diff "$file" <("$program" completion "$shell") || fail "completion $shell is not what is installed"
  # The shells themselves are not needed to build Bulkhead.
  if type -P "$shell" > /dev/null; then
    "$shell" -n "$file" || fail "$shell does not accept its completion"
  fi
done
