import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { newFolder } from './apply-text.js';

/**
 * Stands in for the system's `ssh` for the rest of a test: writes down how it was called, and lets a shell read the last
 * argument, as the one on the other side does. Some addresses fail as hosts do.
 */
const SCRIPT = `#!/bin/sh
for word; do printf '%s\\n' "$word"; done >> "$FAKE_SSH_LOG"
printf '\\n' >> "$FAKE_SSH_LOG"
while [ "$1" != -- ]; do shift; done
case "$2" in
  refused) echo 'ssh: connect to host refused port 22: Connection refused' >&2; exit 255;;
  stranger) echo 'Host key verification failed.' >&2; exit 255;;
  unwelcome) echo 'nobody@unwelcome: Permission denied (publickey).' >&2; exit 255;;
  lost) printf '\\036'; echo 'half of it'; echo 'client_loop: send disconnect: Broken pipe' >&2; exit 255;;
  silent) exit 255;;
  reset) echo 'Connection reset by 10.0.0.1 port 22' >&2; exit 255;;
  gone) echo 'no such identity: /keys/old' >&2; echo 'Read from remote host gone: Connection timed out' >&2; exit 255;;
  rebooting) if [ "$(grep -cx rebooting "$FAKE_SSH_LOG")" -lt 3 ]; then printf '\\036'; echo 'Connection to rebooting closed by remote host.' >&2; exit 255; fi;;
  flaky) case "$3" in *LOSE*) printf '\\036'; echo 'Connection to flaky closed by remote host.' >&2; exit 255;; esac;;
esac
exec env -i PATH="$PATH" HOME="$HOME" /bin/sh -c "$3"
`;

export function fakeSsh(): { calls: () => string[][] } {
  const folder = newFolder();
  const log = join(folder, 'calls');
  writeFileSync(log, '');
  writeFileSync(join(folder, 'ssh'), SCRIPT);
  chmodSync(join(folder, 'ssh'), 0o755);
  const before = process.env['PATH'];
  process.env['PATH'] = `${folder}:${before}`;
  process.env['FAKE_SSH_LOG'] = log;
  onTestFinished(() => {
    process.env['PATH'] = before;
    delete process.env['FAKE_SSH_LOG'];
  });
  return {
    calls: () =>
      readFileSync(log, 'utf8')
        .split('\n\n')
        .slice(0, -1)
        .map((call) => call.split('\n')),
  };
}
