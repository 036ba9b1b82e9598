/**
 * Writes its input to the file `$1` with the mode `$2`, beside its place first, and only if content or mode are different. Run
 * twice, it changes nothing. Nobody else can read what it writes before the mode is right. Without a mode the file keeps the one it
 * had, but for setuid and setgid, which new content has not earned; it keeps owner and group where they may be given. Any POSIX
 * shell reads it: `ls` tells modes, since `stat` takes other options on every system.
 */
export const RENDER_SCRIPT = `set -euf
dest=$1; mode=$2; new="$dest.pawl-$$"
rights() { ls -ldL "$1" | cut -c 2-10; }
if [ -d "$dest" ]; then echo "$dest is a folder" >&2; exit 1; fi
trap 'rm -f "$new"' EXIT
rm -f "$new"
if [ -n "$mode" ] || [ -f "$dest" ]; then umask 077; fi
set -C; cat > "$new"; set +C
if [ -f "$dest" ]; then
  set -- $(ls -ldnL "$dest")
  chown "$3:$4" "$new" 2> /dev/null || chgrp "$4" "$new" 2> /dev/null || :
fi
if [ -n "$mode" ]; then
  chmod "$mode" "$new"
elif [ -f "$dest" ]; then
  chmod "$(rights "$dest" | sed 'y/sStT/x-x-/; s/^\\(...\\)\\(...\\)\\(...\\)$/u=\\1,g=\\2,o=\\3/; s/-//g')" "$new"
fi
if [ -f "$dest" ] && cmp -s "$new" "$dest" && { [ -z "$mode" ] || [ "$(rights "$new")" = "$(rights "$dest")" ]; }; then
  echo unchanged
else
  mv -f "$new" "$dest"; echo changed
fi`;
