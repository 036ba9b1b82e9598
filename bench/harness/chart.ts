import { WORKLOADS, type WorkloadId } from '../workloads/workload.js';
import type { Found } from './rounds.js';
import { median } from './statistics.js';
import { shown } from './table.js';

/** The figure that each panel shows; less is better in the last ones. */
const PANELS: readonly { workload: WorkloadId; figure: string; less?: true }[] = [
  { workload: 'single-starts', figure: 'starts/s' },
  { workload: 'bulk-starts', figure: 'bulk starts/s' },
  { workload: 'drain', figure: 'jobs/s' },
  { workload: 'five-steps', figure: '5-step jobs/s' },
  { workload: 'step', figure: 'ms/step', less: true },
  { workload: 'pick-up', figure: 'p50 ms', less: true },
];

const WIDTH = 760;
const LEFT = 170;
const RIGHT = 110;
const ROW = 20;
const HEAD = 44;

/** Legible wherever it is shown: it brings its own ground, light or dark as the reader has set. */
const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #1f2328; }
  .title { font-weight: 600; } .small { font-size: 11px; fill: #59636e; }
  .ground { fill: #ffffff; } .pawl { fill: #0969da; } .raw { fill: #8c959f; } .peer { fill: #bf8700; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; } .small { fill: #9198a1; }
    .ground { fill: #0d1117; } .pawl { fill: #4493f8; } .raw { fill: #6e7681; } .peer { fill: #d29922; }
  }`;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Text in SVG does not break by itself. */
const MOST_LETTERS = 112;

export function wrapped(text: string): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`.trimStart();
    if (longer.length > MOST_LETTERS) lines.push(`  ${word}`);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

type Line = { readonly subject: string; readonly value: number };

/** Bars of every subject, a panel for each workload, as SVG. Each panel has a scale of its own. */
export function chartOf(found: readonly Found[], about: readonly string[]): string {
  const parts: string[] = [];
  let y = 12;
  for (const { workload, figure, less } of PANELS) {
    const lines = linesOf(found, workload, figure);
    if (lines.length === 0) continue;
    const says = WORKLOADS.find(({ id }) => id === workload)?.says ?? workload;
    const unit = less ? `${figure}, less is better` : figure;
    parts.push(
      `<text class="title" x="12" y="${y + 16}">${escaped(says)}</text>`,
      `<text class="small" x="12" y="${y + 32}">${escaped(unit)}</text>`,
    );
    const most = Math.max(...lines.map(({ value }) => value));
    lines.forEach((line, index) => parts.push(barOf(line, { most, y: y + HEAD + index * ROW })));
    y += HEAD + lines.length * ROW + 18;
  }
  for (const line of about.flatMap(wrapped)) {
    parts.push(`<text class="small" x="12" y="${y + 10}">${escaped(line)}</text>`);
    y += 16;
  }
  const size = `width="${WIDTH}" height="${y + 8}" viewBox="0 0 ${WIDTH} ${y + 8}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="Benchmark of Pawl">
<style>${STYLE}
</style>
<rect class="ground" width="100%" height="100%" rx="6"/>
${parts.join('\n')}
</svg>
`;
}

function linesOf(found: readonly Found[], workload: WorkloadId, figure: string): Line[] {
  return found
    .filter((one) => one.workload === workload)
    .flatMap(({ subject, figures }) => {
      const values = figures.flatMap((one) => one[figure] ?? []);
      return values.length === 0 ? [] : [{ subject, value: median(values) }];
    });
}

function barOf({ subject, value }: Line, { most, y }: { most: number; y: number }): string {
  const [kind = ''] = subject.split(' ');
  const width = Math.max(1, (value / most) * (WIDTH - LEFT - RIGHT));
  const name = subject.replace(/^peer /, '');
  return [
    `<text x="12" y="${y + 11}">${escaped(name)}</text>`,
    `<rect class="${kind}" x="${LEFT}" y="${y}" width="${width.toFixed(1)}" height="14" rx="2"/>`,
    `<text x="${(LEFT + width + 6).toFixed(1)}" y="${y + 11}">${shown(value)}</text>`,
  ].join('');
}
