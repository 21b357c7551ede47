/**
 * Parses the response of a node at `/metrics/resource` like metrics-server (`pkg/scraper/client/resource/decode.go`).
 */

/** The usage of a node or container at one time. */
export interface Point {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Milliseconds since the epoch; 0 for a node. */
  readonly startedAt: number;
  /** CPU time since the start, in nanoseconds. */
  readonly cpuNanos: number;
  /** The working set, in bytes. */
  readonly memory: number;
}

/** The points of a pod's containers, by name. */
export type PodPoints = ReadonlyMap<string, Point>;

/** The result of one scrape of all nodes. */
export interface Batch {
  readonly nodes: ReadonlyMap<string, Point>;
  /** Keyed by `namespace/name`. */
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

/** Parses the samples in a response. Throws an error for a malformed line. `now` is the default timestamp. */
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
const emptyPoint = (): Writable => ({ at: 0, startedAt: 0, cpuNanos: 0, memory: 0 });

const READERS: ReadonlyMap<string, (point: Writable, sample: Sample) => void> = new Map([
  ['cpu_usage_seconds_total', readCpu],
  ['memory_working_set_bytes', memory],
  ['start_time_seconds', readStart],
]);

function readCpu(point: Writable, { value, at }: Sample): void {
  point.cpuNanos = Math.trunc(value * NANOS);
  point.at = at;
}

function memory(point: Writable, { value, at }: Sample): void {
  point.memory = Math.trunc(value);
  point.at = at;
}

function readStart(point: Writable, { value }: Sample): void {
  point.startedAt = Math.trunc(value * MS);
}

/** Returns the points in a response. If a point is incomplete or zero, all containers of its pod are omitted. */
export function batchOf(text: string, node: string, now: number): Batch {
  const own = emptyPoint();
  const pods = new Map<string, Map<string, Writable>>();
  for (const sample of samplesIn(text, now)) {
    const [, of, what = ''] = /^(node|container)_(.+)$/.exec(sample.name) ?? [];
    const read = READERS.get(what);
    if (read === undefined) continue;
    if (of === 'node') read(own, sample);
    else read(pointOf(pods, sample.labels), sample);
  }
  const whole = [...pods].filter(([, containers]) => [...containers.values()].every(isComplete));
  return { nodes: new Map(own.at > 0 && isComplete(own) ? [[node, own]] : []), pods: new Map(whole) };
}

const isComplete = ({ cpuNanos, memory: bytes }: Point): boolean => cpuNanos > 0 && bytes > 0;

function pointOf(pods: Map<string, Map<string, Writable>>, labels: ReadonlyMap<string, string>): Writable {
  const pod = `${labels.get('namespace') ?? ''}/${labels.get('pod') ?? ''}`;
  const containers = pods.get(pod) ?? new Map<string, Writable>();
  pods.set(pod, containers);
  const container = labels.get('container') ?? '';
  const point = containers.get(container) ?? emptyPoint();
  containers.set(container, point);
  return point;
}
