import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { kept } from './kept.js';
import { ROOT } from './source-files.js';

/** What tests run as processes, or load in them. */
const PROGRAMS = [
  'src/cli/main',
  'src/cli/config/typescript-hooks',
  'src/index',
  'src/matrix/child',
  'src/stores/sqlite/writer-thread',
  'test/cli-processes/poison/poisoned-worker',
  'test/crash/crowd-writer',
  'test/crash/killable-worker',
  'test/crash/run-files/killable-writer',
  'test/isolation/paused-process',
  'test/remote/remote-process',
];

/** What has binaries, files of its own, or is there in one copy. */
const NOT_BUNDLED = ['pg', '@opentelemetry/api', '@photostructure/sqlite', '@swc/wasm-typescript'];

/**
 * The programs that tests run as processes; answers with the folder where they are, by their names among the sources. Each begins
 * in half the time that it takes with a file for each module, and most of them are killed soon after they have begun.
 */
export function bundled(): Promise<string> {
  return kept('bundled', async (folder, final) => {
    const bundle = await rolldown({
      input: Object.fromEntries(PROGRAMS.map((name) => [name, join(ROOT, `${name}.ts`)])),
      platform: 'node',
      external: NOT_BUNDLED,
      resolve: { extensionAlias: { '.js': ['.ts'] } },
      // A module finds what lies beside it, such as a program to run, wherever the bundler has put it.
      plugins: [
        {
          name: 'modules lie where their sources do',
          transform(code, id) {
            const place = join(final, relative(ROOT, id).replace(/ts$/, 'js'));
            return code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(place).href));
          },
        },
      ],
    });
    await bundle.write({
      dir: folder,
      entryFileNames: '[name].js',
      chunkFileNames: 'chunks/[name]-[hash].js',
    });
    await bundle.close();
  });
}
