import { useState } from 'preact/hooks';
import { resolveEffect } from '../api/jobs.js';
import { mayAct } from '../api/session.js';
import { useShared } from '../context.js';
import type { Effect } from '../job-log.js';
import { readJson } from '../read-json.js';
import { Action } from '../parts/action.js';
import { Id } from '../parts/id.js';
import { Mark } from '../parts/mark.js';
import { Table, type Column } from '../parts/table.js';
import { Time } from '../parts/time.js';

type Props = {
  readonly jobId: string;
  readonly effects: readonly Effect[];
  readonly isOver: boolean;
};

const LABELS: Readonly<Record<Effect['state'], string>> = {
  entered: 'entered',
  recorded: 'happened',
  closed: 'did not happen',
  unknown: 'nobody knows',
};

export function EffectList({ jobId, effects, isOver }: Props) {
  const { session } = useShared();
  const columns: Column<Effect>[] = [
    { name: 'outcome', speaks: true, cell: ({ state }) => <Mark word={state} label={LABELS[state]} /> },
    {
      name: 'step',
      speaks: true,
      cell: ({ name, entry }) => <code>{entry === 1 ? name : `${name}, entry ${entry}`}</code>,
    },
    { name: 'effect', speaks: true, cell: ({ tool }) => tool },
    {
      name: 'message',
      speaks: true,
      cell: ({ message }) => <span title={message ?? ''}>{message}</span>,
      grows: true,
    },
    { name: 'idempotency key', cell: ({ key }) => <Id value={key} />, isWide: true },
    { name: 'entered', cell: ({ enteredAt }) => <Time at={enteredAt} /> },
  ];
  if (mayAct(session) && !isOver) {
    columns.push({
      name: '',
      cell: ({ state, ...effect }) =>
        state === 'unknown' ? <DecideAction jobId={jobId} effect={effect} /> : '',
    });
  }
  return (
    <Table
      caption="Effects"
      rows={effects}
      columns={columns}
      keyOf={({ name, entry }) => `${name}/${entry}`}
      empty=""
    />
  );
}

const VERDICTS = [
  ['happened', 'It happened. Its result is the JSON below; the job goes on with it.'],
  ['notHappened', 'It did not happen. The job enters it once more.'],
  ['fail', 'Give up: the job fails, and becomes a dead letter.'],
] as const;

type DecideProps = {
  readonly jobId: string;
  readonly effect: Pick<Effect, 'step' | 'occurrence' | 'entry'>;
};

/** An operator's word on an effect that nobody knows the outcome of. */
export function DecideAction({ jobId, effect: { step, occurrence, entry } }: DecideProps) {
  const [verdict, setVerdict] = useState<(typeof VERDICTS)[number][0] | null>(null);
  const [text, setText] = useState('');
  const result = readJson(text);
  const missing =
    verdict === null
      ? 'Look at the system that the effect touches, then say what you found.'
      : verdict === 'happened' && text.trim() === ''
        ? 'Say what its result was, as its code would have returned it; null if that was nothing.'
        : verdict === 'happened' && result.problem !== null
          ? `The result is no JSON: ${result.problem}`
          : null;
  return (
    <Action
      label="Decide"
      title={`Did '${step}' happen?`}
      missing={missing}
      isDangerous
      act={(once) =>
        resolveEffect(
          jobId,
          {
            step,
            occurrence,
            entry,
            verdict: verdict ?? 'fail',
            ...(verdict === 'happened' ? { result: result.value } : {}),
          },
          once,
        )
      }
      answer={(job) => <p>It is decided. The job is {job.status}.</p>}
    >
      <p>
        The worker was lost, or the effect threw, in the middle of it. Only the other system knows whether it
        was done.
      </p>
      <fieldset>
        <legend>What you found there</legend>
        {VERDICTS.map(([value, label]) => (
          <label key={value} class="option">
            <input
              type="radio"
              name="verdict"
              value={value}
              checked={verdict === value}
              onChange={() => setVerdict(value)}
            />
            {label}
          </label>
        ))}
      </fieldset>
      {verdict === 'happened' && (
        <label>
          Result (JSON)
          <textarea
            rows={4}
            value={text}
            spellcheck={false}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
      )}
    </Action>
  );
}
