import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../src/stores/sqlite/driver.js';
import { bundled } from '../bundled.js';
import { storeFolder } from '../store-folder.js';

test('a process whose thread has nothing to do ends by itself, and not before what it has asked for is there', async () => {
  const folder = storeFolder('pawl-thread-');
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const program = join(folder, 'starts.mjs');
  const path = join(folder, 'ends.db');
  writeFileSync(
    program,
    `import { pawl, task } from ${JSON.stringify(pathToFileURL(join(await bundled(), 'src/index.js')).href)};
     const noop = task({ name: 'noop' }, () => null);
     const app = await pawl({ store: ${JSON.stringify(`sqlite:${path}`)}, tasks: [noop] });
     for (let n = 0; n < 60; n++) await app.startMany(noop, Array.from({ length: 100 }, () => ({ input: n })));
     app.startMany(noop, Array.from({ length: 1_000 }, () => ({ input: 0 }))).then(({ length }) => console.log('last', length));`,
  );
  const child = spawn(process.execPath, ['--no-warnings', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (text: Buffer) => (said += text.toString()));
  const [code] = (await once(child, 'close')) as [number];
  expect([code, said.trim()]).toEqual([0, 'last 1000']);
  const db = await openDatabase(path);
  expect(db.prepare('SELECT count(*) AS n FROM jobs').get()).toMatchObject({ n: 7_000 });
  db.close();
});
