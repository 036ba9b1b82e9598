import { pawl, task, type HandlerContext } from '../src/index.js';

const greet = task({ name: 'greet' }, async ({ input, step }: HandlerContext<{ name: string }>) => {
  const words = await step.run('words', () => `Hello, ${input.name}!`);
  await step.sleep('a moment', '1s');
  return words;
});

const app = await pawl({ store: 'sqlite:pawl.db', tasks: [greet] });
await app.work();

const { job } = await app.start(greet, { name: 'Ada' });
console.log(await job.result());
await app.close();
