/** What differs from run to run, and what stands in its place on the page: as long as the original, for the columns' sake. */

const ULID = /(?<![0-9A-Z])01[0-9A-HJKMNP-TV-Z]{24}(?![0-9A-Z])/g;
const WORKER = /\bw-[0-9A-HJKMNP-TV-Z]{12}\b/g;
/** What a job that is followed is doing just then: seen only if it is slow. */
const IN_BETWEEN = /^ {2}(?:… .*|[A-Z].*\.)\n/gm;
const LETTERS = 'ABCDEFGHJKMNPQRSTVWXYZ';

/** Ids are told apart by the order in which they first appear. */
export class StandIns {
  readonly #ids = new Map<string, string>();
  readonly #workers = new Map<string, string>();
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  replace(text: string): string {
    return (
      text
        .replaceAll(IN_BETWEEN, '')
        .replaceAll(this.#folder, '/home/ada/app')
        .replaceAll(/(?<=pawl_\w{26}_)[0-9a-f]{64}/g, '5ec2e7'.repeat(11).slice(0, 64))
        .replaceAll(/\b[0-9a-f]{64}\b/g, 'c0ffee'.repeat(11).slice(0, 64))
        .replaceAll(
          /The store holds: \d+ jobs, \d+ commits, \d+ events/g,
          'The store holds: 20 jobs, 60 commits, 80 events',
        )
        .replaceAll(ULID, (id) => this.#idOf(id))
        .replaceAll(WORKER, (id) => this.#workerOf(id))
        .replaceAll(
          /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g,
          '4f9d1c2e-7b3a-4d5e-8f60-718293a4b5c6',
        )
        .replaceAll(/\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z/g, (_time, ms?: string) =>
          ms === undefined ? '2027-01-31T08:00:00Z' : '2027-01-31T08:00:00.000Z',
        )
        .replaceAll(/\b\d+ ms\b/g, '5 ms')
        .replaceAll(/\b\d+\.\d s\b/g, '1.0 s')
        .replaceAll(/the oldest for \d+ s/g, 'the oldest for 2 s')
        .replaceAll(/\d+\.\d MB/g, '0.1 MB')
        .replaceAll(/Node v[\d.]+/g, 'Node v20.19.0')
        .replaceAll(/SQLite \d[\d.]+/g, 'SQLite 3.53.0')
        .replaceAll(/127\.0\.0\.1:\d{4,5}/g, '127.0.0.1:7295')
        .replaceAll(/\b\d+ commits acknowledged/g, '1000 commits acknowledged')
        // A busy machine may lose one more lease.
        .replaceAll(/\b\d+ claims, /g, '6 claims, ')
        .replaceAll(/\b\d+ writes refused, \d+ commits checked/g, '1 writes refused, 28 commits checked')
    );
  }

  #idOf(id: string): string {
    let known = this.#ids.get(id);
    if (known === undefined) {
      const turn = this.#ids.size;
      known = `01K0PAWLEXAMPLE00000000${LETTERS[Math.floor(turn / 100)] ?? 'Z'}${String(turn % 100).padStart(2, '0')}`;
      this.#ids.set(id, known);
    }
    return known;
  }

  #workerOf(id: string): string {
    let known = this.#workers.get(id);
    if (known === undefined) {
      known = `w-PAWLWORKER${String(this.#workers.size + 1).padStart(2, '0')}`;
      this.#workers.set(id, known);
    }
    return known;
  }
}
