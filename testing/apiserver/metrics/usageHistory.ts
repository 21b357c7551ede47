/** The last two points of nodes and containers, which their use is computed from (`pkg/storage` of metrics-server). */
import type { Batch, PodPoints, Point } from './resourceMetrics.ts';

export interface Usage {
  /** Of one core, in nanoseconds per second. */
  readonly cpuNanos: number;
  /** In bytes. */
  readonly memory: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** What the average of the processor's time is of, in milliseconds. */
  readonly windowMs: number;
}

/** A container that is younger tells nothing of the time since its start, in milliseconds. */
const FRESH_MS = 10_000;

export class UsageHistory {
  #last: Batch = { nodes: new Map(), pods: new Map() };
  #before: Batch = { nodes: new Map(), pods: new Map() };

  /** Takes what all nodes have told at once; what they do not tell any more is forgotten. Scraped so often, in milliseconds. */
  store({ nodes, pods }: Batch, everyMs: number): void {
    const before = {
      nodes: filtered(nodes, (name, point) =>
        this.#beforeOf(point, this.#last.nodes.get(name), this.#before.nodes.get(name)),
      ),
      pods: filtered(pods, (name, containers) => this.#containersBefore(name, containers, everyMs)),
    };
    this.#last = { nodes, pods };
    this.#before = before;
  }

  /** Undefined: it has not told twice. */
  ofNode(name: string): Usage | undefined {
    return usage(this.#last.nodes.get(name), this.#before.nodes.get(name));
  }

  /** That of each container by its name; undefined: one of them has not told twice. */
  ofPod(namespace: string, name: string): ReadonlyMap<string, Usage> | undefined {
    const [last, before] = [this.#last, this.#before].map(({ pods }) => pods.get(`${namespace}/${name}`));
    if (last === undefined || [...last.keys()].some((container) => before?.get(container) === undefined))
      return undefined;
    return filtered(last, (container, point) => usage(point, before?.get(container)));
  }

  /** The point that this one is compared with: a second answer with the same point changes nothing. */
  #beforeOf(point: Point, last: Point | undefined, before: Point | undefined): Point | undefined {
    if (last === undefined) return undefined;
    if (point.at > last.at) return last;
    return before !== undefined && before.at < point.at ? before : undefined;
  }

  #containersBefore(pod: string, containers: PodPoints, everyMs: number): PodPoints {
    const [last, before] = [this.#last, this.#before].map(({ pods }) => pods.get(pod));
    return filtered(containers, (name, point) => {
      const age = point.at - point.startedAt;
      if (age < everyMs && age >= FRESH_MS) return { ...point, at: point.startedAt, cpuNanos: 0 };
      const known = last?.get(name);
      // One that has been restarted since begins anew.
      if (known === undefined || point.startedAt >= known.at) return undefined;
      return this.#beforeOf(point, known, before?.get(name));
    });
  }
}

/** What these become, without those that become nothing. */
function filtered<V, W>(
  all: ReadonlyMap<string, V>,
  become: (name: string, value: V) => W | undefined,
): ReadonlyMap<string, W> {
  return new Map(
    [...all].flatMap(([name, value]) => {
      const made = become(name, value);
      return made === undefined ? [] : [[name, made] as const];
    }),
  );
}

function usage(last: Point | undefined, before: Point | undefined): Usage | undefined {
  if (last === undefined || before === undefined) return undefined;
  if (last.startedAt < before.startedAt || last.cpuNanos < before.cpuNanos) return undefined;
  const windowMs = last.at - before.at;
  const cpuNanos = Math.trunc(((last.cpuNanos - before.cpuNanos) / windowMs) * 1e3);
  return { cpuNanos, memory: last.memory, at: last.at, windowMs };
}
