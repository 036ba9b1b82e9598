/** Shapes that tell states apart without their colours. */
const SHAPES = {
  dot: <circle cx="6" cy="6" r="3" />,
  ring: <circle cx="6" cy="6" r="4" class="stroke" />,
  dots: (
    <>
      <circle cx="2" cy="6" r="1.4" />
      <circle cx="6" cy="6" r="1.4" />
      <circle cx="10" cy="6" r="1.4" />
    </>
  ),
  play: <path d="M3 1.5 L10.5 6 L3 10.5 Z" />,
  again: <path d="M9.8 4 A4.3 4.3 0 1 0 10.3 6.6 M10.2 1.4 V4.4 H7.2" class="stroke" />,
  check: <path d="M1.8 6.4 L4.8 9.4 L10.4 2.8" class="stroke" />,
  cross: <path d="M2.4 2.4 L9.6 9.6 M9.6 2.4 L2.4 9.6" class="stroke" />,
  dash: <path d="M2 6 H10" class="stroke" />,
  pause: <path d="M2.5 2 H5 V10 H2.5 Z M7 2 H9.5 V10 H7 Z" />,
  alarm: <path d="M6 0.8 L11.6 11 H0.4 Z" />,
  box: <path d="M1.5 2.5 H10.5 V9.5 H1.5 Z M1.5 5.5 H10.5" class="stroke" />,
  question: <path d="M3.6 4.2 A2.4 2.4 0 1 1 6 6.6 V7.6 M6 9.6 V10.6" class="stroke" />,
} as const;

export type Tone = 'calm' | 'busy' | 'good' | 'warn' | 'bad';
type Look = { readonly shape: keyof typeof SHAPES; readonly tone: Tone };

const LOOKS: Readonly<Record<string, Look>> = {
  queued: { shape: 'ring', tone: 'calm' },
  scheduled: { shape: 'ring', tone: 'calm' },
  waiting: { shape: 'dots', tone: 'calm' },
  unblocked: { shape: 'ring', tone: 'busy' },
  running: { shape: 'play', tone: 'busy' },
  retrying: { shape: 'again', tone: 'warn' },
  interrupted: { shape: 'alarm', tone: 'warn' },
  succeeded: { shape: 'check', tone: 'good' },
  success: { shape: 'check', tone: 'good' },
  skipped: { shape: 'dash', tone: 'calm' },
  recorded: { shape: 'check', tone: 'good' },
  happened: { shape: 'check', tone: 'good' },
  entered: { shape: 'play', tone: 'busy' },
  unknown: { shape: 'question', tone: 'bad' },
  closed: { shape: 'dash', tone: 'calm' },
  dlq_pending: { shape: 'box', tone: 'bad' },
  dlq_recorded: { shape: 'box', tone: 'bad' },
  failed: { shape: 'cross', tone: 'bad' },
  cancelled: { shape: 'dash', tone: 'calm' },
  open: { shape: 'box', tone: 'bad' },
  requeued: { shape: 'again', tone: 'good' },
  discarded: { shape: 'dash', tone: 'calm' },
  paused: { shape: 'pause', tone: 'warn' },
  active: { shape: 'play', tone: 'good' },
  ended: { shape: 'dash', tone: 'calm' },
  alive: { shape: 'play', tone: 'good' },
  ready: { shape: 'check', tone: 'good' },
  'not ready': { shape: 'alarm', tone: 'bad' },
  raised: { shape: 'alarm', tone: 'bad' },
  pending: { shape: 'ring', tone: 'warn' },
  cleared: { shape: 'check', tone: 'good' },
  live: { shape: 'play', tone: 'good' },
  lost: { shape: 'alarm', tone: 'bad' },
  connecting: { shape: 'dots', tone: 'calm' },
};
const UNKNOWN: Look = { shape: 'ring', tone: 'calm' };

export function toneOf(word: string): Tone {
  return (LOOKS[word] ?? UNKNOWN).tone;
}

export function Shape({ of }: { readonly of: keyof typeof SHAPES }) {
  return (
    <svg class="shape" viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
      {SHAPES[of]}
    </svg>
  );
}

/** A state: its word, with a colour and a shape. */
export function Mark({ word, label = word }: { readonly word: string; readonly label?: string }) {
  const { shape, tone } = LOOKS[word] ?? UNKNOWN;
  return (
    <span class={`mark ${tone}`} data-status={word}>
      <Shape of={shape} />
      {label}
    </span>
  );
}
