/** What is kept of a host's output. More would make every state of a run heavy; the end is what tells of a failure. */
export const MOST_OUTPUT_BYTES = 64 * 1024;

/** The end of a text that grows: at most so many bytes of UTF-8, never half a character. */
export class OutputTail {
  readonly #mostBytes: number;
  #text = '';
  #truncated = false;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  append(text: string): void {
    this.#text += text;
    // Cutting costs as much as what is kept, so it waits until as much again has come.
    if (this.#text.length > 2 * this.#mostBytes) this.#cut();
  }

  get text(): string {
    this.#cut();
    return this.#text;
  }

  get isTruncated(): boolean {
    this.#cut();
    return this.#truncated;
  }

  #cut(): void {
    // A character is three bytes at most for every unit of its length.
    if (this.#text.length * 3 <= this.#mostBytes) return;
    const bytes = Buffer.from(this.#text, 'utf8');
    if (bytes.length <= this.#mostBytes) return;
    let start = bytes.length - this.#mostBytes;
    while (isContinuation(bytes[start])) start += 1;
    this.#text = bytes.toString('utf8', start);
    this.#truncated = true;
  }
}

/** A byte in the middle of a character. */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000;
}
