import type { Extras } from '../engine/prepare-commit.js';
import type { Decision } from '../kernel/index.js';
import type { GiveOptions } from './held-command.js';

type Decided = {
  readonly batch: readonly { readonly options: GiveOptions }[];
  readonly decisions: readonly Decision[];
  /** What follows from the events. */
  readonly ending: Extras;
};

const NO_MAIL: readonly never[] = [];

/** What an attempt's commit brings along. What a refused command would have brought, a consumed message or a child's start, must not be saved. */
export function extrasOf(attemptId: string, { batch, decisions, ending }: Decided): Extras {
  const { outbox = NO_MAIL, dlqItem = null } = ending;
  if (batch.every(({ options }) => options.extras === undefined)) return { attemptId, outbox, dlqItem };
  const asked = batch.flatMap(({ options }, index) =>
    options.extras !== undefined && decisions[index]?.ok ? [options.extras] : [],
  );
  const [first] = asked;
  return {
    attemptId,
    inboxRev: first?.inboxRev ?? null,
    noResultOf: first?.noResultOf ?? null,
    consumed: asked.flatMap(({ consumed = [] }) => consumed),
    outbox: [...asked.flatMap((extras) => extras.outbox ?? []), ...outbox],
    dlqItem,
    takesOver: asked.some(({ takesOver }) => takesOver),
  };
}
