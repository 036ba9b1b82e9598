import type { Repeating } from '../api/repeating.js';

type Props = { readonly value: Repeating; readonly onChange: (value: Repeating) => void };

const CHOICES: readonly (readonly [Repeating, string])[] = [
  ['ask', 'Begin from the start, unless effects of it happened, or may have'],
  ['keep', 'Go on where it was: what it has recorded is not done again'],
  ['repeat', 'Begin from the start, and enter effects again that happened, or may have'],
];

/** Asked by everything that does the work of a job once more. */
export function RepeatingChoice({ value, onChange }: Props) {
  return (
    <fieldset>
      <legend>What it has done so far</legend>
      {CHOICES.map(([choice, text]) => (
        <label key={choice} class="option">
          <input type="radio" name="repeating" checked={value === choice} onChange={() => onChange(choice)} />{' '}
          {text}
        </label>
      ))}
    </fieldset>
  );
}
