import { print } from '../console.js';
import { CHECK_FAILED } from '../exit-code.js';
import { withApp } from '../open-app.js';
import { command, examples, type Flags, type Register } from '../shell.js';

export const registerRelease: Register = (program, shell) => {
  const release = command(program, 'release', 'Let jobs that are held be claimed again.')
    .argument('<job-id...>')
    .action((jobIds: string[], options: Flags) =>
      shell.ends(
        withApp(shell, options, async ({ engine }) => {
          const { changed } = await engine.store.release(jobIds);
          print(shell.console, {
            json: options.json ?? false,
            data: { released: changed },
            text: `${changed} of ${jobIds.length} jobs released`,
          });
          return changed === jobIds.length ? 0 : CHECK_FAILED;
        }),
      ),
    );
  examples(release, 'pawl release 01JZ… 01JZ…');
};
