/** What a node tells at `/metrics/resource`, as metrics-server reads it (`pkg/scraper/client/resource/decode.go`). */

/** What something had used at one moment. */
export interface Point {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Milliseconds since the epoch; 0 for a node. */
  readonly startedAt: number;
  /** Since its start, in nanoseconds of one core. */
  readonly cpuNanos: number;
  /** The working set, in bytes. */
  readonly memory: number;
}

/** The points of a pod's containers by their names. */
export type PodPoints = ReadonlyMap<string, Point>;

/** All that was told at once. */
export interface Batch {
  readonly nodes: ReadonlyMap<string, Point>;
  /** By `namespace/name`. */
  readonly pods: ReadonlyMap<string, PodPoints>;
}

interface Sample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
  readonly at: number;
}

const SAMPLE = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+(-?\d+))?$/;
const LABEL = /([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g;
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\\n', '\n'],
  ['\\"', '"'],
  ['\\\\', '\\'],
]);

/** Throws for a line that is none of the format; `now` is the time of samples that have none. */
function samplesIn(text: string, now: number): Sample[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const [, name, labels = '', value = '', at] = SAMPLE.exec(line) ?? [];
    if (name === undefined) throw new Error(`failed parsing metrics: ${JSON.stringify(line)}`);
    const pairs = [...labels.matchAll(LABEL)].map(([, label = '', escaped = '']) => {
      return [label, escaped.replaceAll(/\\./g, (each) => ESCAPES.get(each) ?? each)] as const;
    });
    return { name, labels: new Map(pairs), value: Number(value), at: at === undefined ? now : Number(at) };
  });
}

type Writable = { -readonly [Field in keyof Point]: Point[Field] };

const NANOS = 1e9;
const MS = 1e3;
const nothing = (): Writable => ({ at: 0, startedAt: 0, cpuNanos: 0, memory: 0 });

const READ: ReadonlyMap<string, (point: Writable, sample: Sample) => void> = new Map([
  ['cpu_usage_seconds_total', cpu],
  ['memory_working_set_bytes', memory],
  ['start_time_seconds', started],
]);

function cpu(point: Writable, { value, at }: Sample): void {
  point.cpuNanos = Math.trunc(value * NANOS);
  point.at = at;
}

function memory(point: Writable, { value, at }: Sample): void {
  point.memory = Math.trunc(value);
  point.at = at;
}

function started(point: Writable, { value }: Sample): void {
  point.startedAt = Math.trunc(value * MS);
}

/** What is not told whole, and not more than zero, is not there: neither are all containers of its pod. */
export function batchOf(text: string, node: string, now: number): Batch {
  const own = nothing();
  const pods = new Map<string, Map<string, Writable>>();
  for (const sample of samplesIn(text, now)) {
    const [, of, what = ''] = /^(node|container)_(.+)$/.exec(sample.name) ?? [];
    const read = READ.get(what);
    if (read === undefined) continue;
    if (of === 'node') read(own, sample);
    else read(pointOf(pods, sample.labels), sample);
  }
  const whole = [...pods].filter(([, containers]) => [...containers.values()].every(isWhole));
  return { nodes: new Map(own.at > 0 && isWhole(own) ? [[node, own]] : []), pods: new Map(whole) };
}

const isWhole = ({ cpuNanos, memory: bytes }: Point): boolean => cpuNanos > 0 && bytes > 0;

function pointOf(pods: Map<string, Map<string, Writable>>, labels: ReadonlyMap<string, string>): Writable {
  const pod = `${labels.get('namespace') ?? ''}/${labels.get('pod') ?? ''}`;
  const containers = pods.get(pod) ?? new Map<string, Writable>();
  pods.set(pod, containers);
  const container = labels.get('container') ?? '';
  const point = containers.get(container) ?? nothing();
  containers.set(container, point);
  return point;
}
