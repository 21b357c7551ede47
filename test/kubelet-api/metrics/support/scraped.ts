/** Parses the output of a scrape. */
import { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import { type NodeMetrics, nodeMetrics } from '../../../../kubelet-api/metrics/agent/nodeMetrics.ts';
import { generateChunks } from '../../../../kubelet-api/metrics/exposition.ts';
import type { Registry } from '../../../../kubelet-api/metrics/registry.ts';
import { type Cluster, cluster } from '../../../fakes/cluster.ts';
import { type SimulatedNode, type SimulatedNodeOptions, simulatedNode } from '../../../fakes/node.ts';

export interface ReadFamily {
  readonly type: string;
  readonly help: string;
  /** Values by series in the text format, e.g. `name{label="value"}`. */
  readonly samples: ReadonlyMap<string, number>;
}

export const textOf = async (registry: Registry): Promise<string> =>
  [...generateChunks(await registry.families())].join('');

/** Parses the metric families of a text, by name. */
export function readFamilies(text: string): Map<string, ReadFamily> {
  const families = new Map<string, { type: string; help: string; samples: Map<string, number> }>();
  let current: { type: string; help: string; samples: Map<string, number> } | undefined;
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const [, what, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (what === 'HELP') {
      current = { type: '', help: rest, samples: new Map() };
      families.set(name, current);
    } else if (what === 'TYPE' && current) current.type = rest;
    else {
      const [, series = '', value = ''] = /^(.+?) (\S+)(?: \d+)?$/.exec(line) ?? [];
      current?.samples.set(series, value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value));
    }
  }
  return families;
}

export async function scraped(registry: Registry): Promise<Map<string, ReadFamily>> {
  return readFamilies(await textOf(registry));
}

/** Returns all samples of a registry, by series. */
export async function samplesOf(registry: Registry): Promise<Map<string, number>> {
  const families = await scraped(registry);
  return new Map([...families.values()].flatMap(({ samples }) => [...samples]));
}

export interface CountedNode {
  readonly node: SimulatedNode;
  readonly metrics: NodeMetrics;
  readonly cluster: Cluster | undefined;
  readonly errors: unknown[];
}

/** Creates a simulated node, optionally in a cluster, whose metrics count from its start. */
export async function countedNode({
  inCluster = false,
  ...options
}: SimulatedNodeOptions & { readonly inCluster?: boolean } = {}): Promise<CountedNode> {
  let clock = new SimulatedClock();
  const errors: unknown[] = [];
  const metrics = nodeMetrics({
    clock: { now: () => clock.now(), monotonic: () => clock.monotonic() },
    isInCluster: inCluster,
    onError: (error) => void errors.push(error),
    bootedAt: () => 1,
    managerPolicies: {
      assignsCpus: options.config?.cpuManager !== undefined,
      choosesNumaNodes: options.config?.topologyManager !== undefined,
    },
    gates: [{ name: 'ContainerCheckpoint', stage: 'BETA', isEnabled: true }],
  });
  const made: { cluster?: Cluster } = {};
  const node = await simulatedNode({
    silentSource: true,
    ...options,
    parts: { ...options.parts, ...metrics.observers },
    ...(inCluster ? { fromFiles: true, clusterOf: (its) => (made.cluster = cluster(its)) } : {}),
  });
  clock = node.clock;
  metrics.start(node.agent, {
    nodeName: 'node-1',
    cgroupVersion: 2,
    memoryQos: { isTiered: true },
    version: { kubelet: 'v1.36.0', platform: 'linux/amd64' },
    sessions: () => [{ kind: 'exec' }],
    recorder: () => ({ lines: 7, bytes: 70, pendingLength: 1, lostLines: 0, isFailing: false }),
  });
  if (made.cluster) {
    await made.cluster.ask('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
    await node.advance('1s');
  }
  return { node, metrics, cluster: made.cluster, errors };
}
