/** The last two points of nodes and containers, from which usage is computed (`pkg/storage` of metrics-server). */
import type { Batch, PodPoints, Point } from './resourceMetrics.ts';

export interface Usage {
  /** CPU usage in nanoseconds per second. */
  readonly cpuNanos: number;
  /** The working set, in bytes. */
  readonly memory: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The period of the average CPU usage, in milliseconds. */
  readonly windowMs: number;
}

/** Minimum age of a container at which its CPU time since the start is used, in milliseconds. */
const MIN_AGE_MS = 10_000;

export class UsageHistory {
  #last: Batch = { nodes: new Map(), pods: new Map() };
  #before: Batch = { nodes: new Map(), pods: new Map() };

  /** Stores the result of a scrape and drops everything that it does not contain. `everyMs` is the scrape interval. */
  store({ nodes, pods }: Batch, everyMs: number): void {
    const before = {
      nodes: mapDefined(nodes, (name, point) =>
        this.#beforeOf(point, this.#last.nodes.get(name), this.#before.nodes.get(name)),
      ),
      pods: mapDefined(pods, (name, containers) => this.#containersBefore(name, containers, everyMs)),
    };
    this.#last = { nodes, pods };
    this.#before = before;
  }

  /** Returns the usage of a node, or undefined if it has fewer than two points. */
  ofNode(name: string): Usage | undefined {
    return usage(this.#last.nodes.get(name), this.#before.nodes.get(name));
  }

  /** Returns the usage by container. Undefined if any container has fewer than two points. */
  ofPod(namespace: string, name: string): ReadonlyMap<string, Usage> | undefined {
    const [last, before] = [this.#last, this.#before].map(({ pods }) => pods.get(`${namespace}/${name}`));
    if (last === undefined || [...last.keys()].some((container) => before?.get(container) === undefined))
      return undefined;
    return mapDefined(last, (container, point) => usage(point, before?.get(container)));
  }

  /** Returns the point to compare a new one with. A repeated point does not replace the previous one. */
  #beforeOf(point: Point, last: Point | undefined, before: Point | undefined): Point | undefined {
    if (last === undefined) return undefined;
    if (point.at > last.at) return last;
    return before !== undefined && before.at < point.at ? before : undefined;
  }

  #containersBefore(pod: string, containers: PodPoints, everyMs: number): PodPoints {
    const [last, before] = [this.#last, this.#before].map(({ pods }) => pods.get(pod));
    return mapDefined(containers, (name, point) => {
      const age = point.at - point.startedAt;
      if (age < everyMs && age >= MIN_AGE_MS) return { ...point, at: point.startedAt, cpuNanos: 0 };
      const known = last?.get(name);
      // The counters of a restarted container start over.
      if (known === undefined || point.startedAt >= known.at) return undefined;
      return this.#beforeOf(point, known, before?.get(name));
    });
  }
}

/** Maps the values and drops undefined results. */
function mapDefined<V, W>(
  all: ReadonlyMap<string, V>,
  mapValue: (name: string, value: V) => W | undefined,
): ReadonlyMap<string, W> {
  return new Map(
    [...all].flatMap(([name, value]) => {
      const mapped = mapValue(name, value);
      return mapped === undefined ? [] : [[name, mapped] as const];
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
