type Props = { readonly isOn: boolean; readonly onChange: (isOn: boolean) => void };

/** Asked by everything that does the work of a job once more. */
export function RepeatEffects({ isOn, onChange }: Props) {
  return (
    <label class="option">
      <input type="checkbox" checked={isOn} onChange={(event) => onChange(event.currentTarget.checked)} />{' '}
      Also if effects of it happened, or may have: they are entered again
    </label>
  );
}
