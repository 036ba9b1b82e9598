type Props = {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** It is what is asked for first. */
  readonly isFirst?: boolean;
};

/** Why somebody does something, for whoever reads of it later. */
export function ReasonField({ label, value, onChange, isFirst = false }: Props) {
  return (
    <label>
      {label}
      <input
        value={value}
        maxLength={1_000}
        autofocus={isFirst}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </label>
  );
}
