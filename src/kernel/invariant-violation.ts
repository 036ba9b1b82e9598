/** A bug: the kernel was shown something that its own rules make impossible. Never caught, always reported. */
export class InvariantViolation extends Error {
  override readonly name = 'InvariantViolation';
}

/** The value, which the kernel's rules say is there. */
export function must<T>(value: T | null | undefined, because: string): T {
  if (value === null || value === undefined) throw new InvariantViolation(`expected: ${because}`);
  return value;
}
