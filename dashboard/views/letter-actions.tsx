import { useEffect, useState } from 'preact/hooks';
import {
  approveDiscard,
  askDiscard,
  countRequeues,
  requeueAll,
  requeueLetter,
  type Letter,
  type RequeueFilter,
} from '../api/dead-letters.js';
import type { Repeating } from '../api/repeating.js';
import { Action } from '../parts/action.js';
import { Id } from '../parts/id.js';
import { Problem } from '../parts/problem.js';
import { ReasonField } from '../parts/reason.js';
import { RepeatingChoice } from '../parts/repeating.js';
import { hrefOf } from '../route.js';

type Props = { readonly letter: Letter };

export function RequeueAction({ letter }: Props) {
  const [repeating, setRepeating] = useState<Repeating>('ask');
  const [reason, setReason] = useState('');
  return (
    <Action
      label="Requeue"
      title="Requeue this dead letter?"
      act={(once) => requeueLetter(letter.dlq_id, { repeating, reason: reason.trim() }, once)}
      answer={({ job_id: id }) => (
        <p>
          Requeued as <Id value={id} href={hrefOf('jobs', { id })} />
        </p>
      )}
    >
      <p>
        A new job of task <strong>{letter.job_type}</strong> is started with the same input, in the place of{' '}
        <code>{letter.job_id}</code>, which failed with <code>{letter.error_code}</code>. The dead letter is
        then dealt with. Mend first what it failed with.
      </p>
      <RepeatingChoice value={repeating} onChange={setRepeating} />
      <ReasonField label="Reason, for the trail (may be empty)" value={reason} onChange={setReason} />
    </Action>
  );
}

export function DiscardAction({ letter }: Props) {
  const [reason, setReason] = useState('');
  return (
    <Action
      label="Ask to discard"
      title="Ask for this dead letter to be discarded?"
      isDangerous
      missing={reason.trim() === '' ? 'A reason is needed: another reviewer decides by it.' : null}
      act={(once) => askDiscard(letter.dlq_id, reason.trim(), once)}
      answer={() => <p>Asked. It stays open until another reviewer agrees.</p>}
    >
      <p>
        Nothing happens yet. Once somebody else agrees, nobody will do the work of{' '}
        <code>{letter.job_id}</code> any more.
      </p>
      <ReasonField label="Reason" value={reason} onChange={setReason} isFirst />
    </Action>
  );
}

export function ApproveAction({ letter }: Props) {
  return (
    <Action
      label="Agree to discard"
      title="Discard this dead letter?"
      isDangerous
      act={(once) => approveDiscard(letter.dlq_id, once)}
      answer={() => <p>Discarded. It stays on record.</p>}
    >
      <p>
        <strong>{letter.discard_asked?.by}</strong> asked for it: {letter.discard_asked?.reason}
      </p>
      <p>
        The work of <code>{letter.job_id}</code> is given up for good. The dead letter stays on record, and
        cannot be requeued any more.
      </p>
    </Action>
  );
}

type AllProps = { readonly task: string; readonly code: string };

/** Everything that the filters show, or rather: everything open that fits them. */
export function RequeueAllAction({ task, code }: AllProps) {
  const filter: RequeueFilter = {
    ...(task === '' ? {} : { job_type: task }),
    ...(code === '' ? {} : { error_code: code }),
  };
  const [count, setCount] = useState<number | null>(null);
  const [repeating, setRepeating] = useState<Repeating>('ask');
  return (
    <Action
      label="Requeue all that fit"
      title="Requeue all open dead letters that fit?"
      isDangerous
      missing={count === null ? 'Counting first …' : count === 0 ? 'None is open that fits.' : null}
      act={(once) => requeueAll(filter, repeating, once)}
      answer={({ requeued, passed_over: passed }) => (
        <p>
          Requeued {requeued}.
          {passed > 0 &&
            ` Passed over ${passed}: dealt with by somebody else meanwhile, or with effects that happened.`}
        </p>
      )}
    >
      <RepeatingChoice value={repeating} onChange={setRepeating} />
      <DryRun key={repeating} filter={filter} repeating={repeating} onCounted={setCount} />
    </Action>
  );
}

type DryRunProps = {
  readonly filter: RequeueFilter;
  readonly repeating: Repeating;
  readonly onCounted: (count: number | null) => void;
};

function DryRun({ filter, repeating, onCounted }: DryRunProps) {
  const [counted, setCounted] = useState<number | null>(null);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    onCounted(null);
    countRequeues(filter, repeating).then(({ requeued }) => {
      setCounted(requeued);
      onCounted(requeued);
    }, setError);
    // Counted once, when it is asked; anew for another choice.
  }, []);
  if (error !== null) return <Problem error={error} />;
  const which = [
    filter.job_type === undefined ? 'of every task' : `of task '${filter.job_type}'`,
    filter.error_code === undefined ? 'whatever their error' : `with error ${filter.error_code}`,
  ].join(', ');
  if (counted === null) return <p>Counting the open dead letters {which} …</p>;
  return (
    <p role="status">
      <strong>
        {counted === 1 ? '1 dead letter' : `${counted.toLocaleString('en')} dead letters`} will be requeued
      </strong>
      : all open ones {which}
      {repeating === 'ask' && ', without those that have effects which happened, or may have'}. For each, a
      new job with the same input is started. Nothing has been changed so far.
    </p>
  );
}
