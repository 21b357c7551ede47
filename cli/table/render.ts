import { styleText } from 'node:util';
import { humanDuration } from '../../pod/duration.ts';
import type { NodeSummary } from '../../server/agent.ts';
import { type Column, cut, layOut } from './layout.ts';
import { DETAILS, type LivePod, type LiveRow, liveRows, type Tone } from './liveRows.ts';
import { nodeReadiness } from './ready.ts';

const COLUMNS: readonly Column[] = [
  { header: 'NAME', min: 16 },
  { header: 'PHASE', min: 16 },
  { header: 'STATE', min: 14 },
  { header: 'SINCE', align: 'right' },
  { header: 'RESTARTS', align: 'right' },
  { header: 'IP' },
  { header: 'WAITING FOR', min: 28, optional: true },
];

/** What the table is drawn on; `colour` says whether lines may carry colours. */
export interface Surface {
  readonly width: number;
  readonly height: number;
  readonly colour: boolean;
}

const COLOURS = { good: 'green', busy: 'yellow', bad: 'red', done: 'dim' } as const satisfies Record<Tone, string>;

type Format = Parameters<typeof styleText>[0];

function paint(text: string, format: Format, { colour }: Surface): string {
  return colour ? styleText(format, text, { validateStream: false }) : text;
}

function headLine(node: NodeSummary, pods: readonly LivePod[], now: number): string {
  const { running, expected } = nodeReadiness(
    pods.map(({ pod }) => pod),
    now,
  );
  const { runtime } = node;
  const health = `${runtime.state} for ${humanDuration(Math.max(0, now - runtime.since))}`;
  return `node ${node.name} ${node.state} · ${runtime.name} ${runtime.version} ${health} · ${running}/${expected} pods running`;
}

/** The lines above the table: the node, and plainly what is not real. */
function head(node: NodeSummary, pods: readonly LivePod[], now: number, surface: Surface): string[] {
  const label = 'SIMULATED runtime: no real containers run';
  return [
    paint(cut(headLine(node, pods, now), surface.width), 'bold', surface),
    ...(node.simulated ? [paint(cut(label, surface.width), ['bold', 'magenta'], surface)] : []),
  ];
}

/** The lines below it: manifests that could not be used, and sandboxes of others. */
function foot(node: NodeSummary, surface: Surface): string[] {
  const problems = node.problems.slice(0, 3).map(({ file, path, message }) => {
    return paint(cut(`! ${file}: ${path === '' ? '' : `${path}: `}${message}`, surface.width), 'red', surface);
  });
  const { length } = node.foreign;
  const foreign = `${length} ${length === 1 ? 'sandbox' : 'sandboxes'} of others left alone`;
  return length === 0 ? problems : [...problems, cut(foreign, surface.width)];
}

/** As many details as fit into `height` lines, the header among them; at last, as many pods. */
function fittingRows(pods: readonly LivePod[], now: number, height: number): { rows: LiveRow[]; left: number } {
  for (const detail of DETAILS) {
    const rows = liveRows(pods, now, detail);
    if (rows.length + 1 <= height) return { rows, left: 0 };
  }
  const shown = Math.max(0, height - 2);
  return { rows: liveRows(pods, now, 'podsOnly').slice(0, shown), left: pods.length - shown };
}

/** The live table as lines that fit the surface; `now` is in milliseconds since the epoch. */
export function renderTable(node: NodeSummary, pods: readonly LivePod[], now: number, surface: Surface): string[] {
  const above = head(node, pods, now, surface);
  const below = foot(node, surface);
  if (pods.length === 0) return [...above, ...below];
  const { rows, left } = fittingRows(pods, now, surface.height - above.length - below.length);
  const [header = '', ...lines] = layOut(
    COLUMNS,
    rows.map(({ cells }) => cells),
    surface.width,
  );
  const body = lines.map((line, index) => paint(line, COLOURS[rows[index]?.tone ?? 'busy'], surface));
  const rest = left > 0 ? [cut(`… and ${left} more pods: "statelet get pods" shows all`, surface.width)] : [];
  return [...above, paint(header, 'dim', surface), ...body, ...rest, ...below];
}
