/** `statelet top pods` and `statelet top nodes`: print CPU and memory usage in the format of `kubectl top`. */
import * as z from 'zod/mini';
import { NodeFailure } from '../../../base/failure.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { goDuration } from '../../../base/time/duration.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { nodeFields, podFields } from '../../../kubernetes/api/selection/selectableFields.ts';
import { findPodsByName } from '../../../show/tables/podsByName.ts';
import {
  type NodeUsage,
  nodeUsageTable,
  type PodUsage,
  podUsageTable,
  type SortField,
  type Usage,
} from '../../../show/tables/usageTable.ts';
import { connectAgent } from '../../connectAgent.ts';
import { tablePrinter } from '../../terminal/table/tablePrinter.ts';
import { fetchNodes } from '../get/fetchNodes.ts';
import { readNode, readPodList } from '../get/readPods.ts';
import { createSelection, type SelectionOptions } from '../get/selection.ts';

export interface TopUsageOptions extends SelectionOptions {
  readonly name?: string;
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly containers?: boolean;
  readonly sortBy?: SortField;
  readonly headers?: boolean;
  readonly rootDir?: string;
  readonly stateDir?: string;
}

type Write = (text: string) => unknown;

const measuredStatsSchema = z.object({
  name: z.optional(z.string()),
  cpu: z.optional(z.object({ usageNanoCores: z.optional(z.number()) })),
  memory: z.optional(z.object({ workingSetBytes: z.optional(z.number()) })),
});

type MeasuredStats = z.infer<typeof measuredStatsSchema>;

const summarySchema = z.object({
  node: measuredStatsSchema,
  pods: z.array(z.object({ podRef: z.object({ uid: z.string() }), containers: z.array(measuredStatsSchema) })),
});

/** Age in milliseconds below which a pod may not have been measured yet (`metricsCreationDelay` in kubectl). */
const METRICS_DELAY_MS = 120_000;

const metricsNotAvailableError = (): NodeFailure => new NodeFailure('NotFound', 'metrics not available yet');

function usageOf({ cpu, memory }: MeasuredStats): Usage | undefined {
  const { usageNanoCores: cpuNanoCores } = cpu ?? {};
  const { workingSetBytes: memoryBytes } = memory ?? {};
  return cpuNanoCores === undefined || memoryBytes === undefined ? undefined : { cpuNanoCores, memoryBytes };
}

/** Prints the usage of the running agent's pods or of the containers in these pods. */
export async function topPods(options: TopUsageOptions, write: Write): Promise<void> {
  const { name, namespace, allNamespaces, headers = true } = options;
  const isSelected = createSelection<Pod>(options, podFields);
  const agent = await connectAgent(options);
  const podsInNamespace = readPodList(await agent.json('/api/v1/pods')).filter(
    ({ metadata }) => namespace === undefined || allNamespaces === true || metadata.namespace === namespace,
  );
  const pods = (name === undefined ? podsInNamespace : findPodsByName(name, podsInNamespace)).filter(isSelected);
  if (name !== undefined && pods.length === 0) throw new NodeFailure('NotFound', `pods "${name}" not found`);
  const summary = summarySchema.parse(await agent.json('/stats/summary'));
  const { simulated } = readNode(await agent.json('/node'));
  const containersByUid = new Map(summary.pods.map(({ podRef, containers }) => [podRef.uid, containers]));
  const usages = pods.flatMap((pod) => podUsage(pod, containersByUid.get(pod.metadata.uid)));
  if (usages.length === 0) {
    if (pods.length > 0) throw missingMetricsError(pods);
    return void process.stderr.write('No resources found\n');
  }
  if (simulated) write('SIMULATED runtime: no real containers run\n');
  const [header = [], ...rows] = podUsageTable(usages, {
    showsNamespaces: allNamespaces === true || usages.some((pod) => pod.namespace !== 'default'),
    containers: options.containers === true,
    sortBy: options.sortBy,
  });
  tablePrinter(write, { headers }).print(header, rows);
}

/** Returns an empty list if a container has not been measured, because metrics-server also omits such pods. */
function podUsage({ metadata }: Pod, containers: readonly MeasuredStats[] = []): PodUsage[] {
  const containerUsages = containers.flatMap((container) => {
    const usage = usageOf(container);
    return usage === undefined ? [] : [{ name: container.name ?? '', usage }];
  });
  if (containerUsages.length === 0 || containerUsages.length < containers.length) return [];
  return [{ namespace: metadata.namespace, name: metadata.name, containers: containerUsages }];
}

/** Creates kubectl's error for pods without metrics (`verifyEmptyMetrics` in `cmd/top/top_pod.go`). */
function missingMetricsError(pods: readonly Pod[]): NodeFailure {
  const now = systemClock.now();
  const ageOf = ({ metadata }: Pod) => now - Date.parse(metadata.creationTimestamp ?? '');
  const oldPod = pods.find((pod) => ageOf(pod) > METRICS_DELAY_MS);
  if (oldPod === undefined) return metricsNotAvailableError();
  const { namespace, name } = oldPod.metadata;
  const age = goDuration(ageOf(oldPod));
  return new NodeFailure('NotFound', `Metrics not available for pod ${namespace}/${name}, age: ${age}`);
}

/** Prints the usage of the running agent's node, both as amounts and as percentages of its allocatable resources. */
export async function topNodes(options: TopUsageOptions, write: Write): Promise<void> {
  const isSelected = createSelection(options, nodeFields);
  const agent = await connectAgent(options);
  const nodes = (await fetchNodes(agent, options.name)).filter(isSelected);
  if (nodes.length === 0) return void process.stderr.write('No resources found\n');
  const usage = usageOf(summarySchema.parse(await agent.json('/stats/summary')).node);
  if (usage === undefined) throw metricsNotAvailableError();
  const usages = nodes.map(
    ({ metadata, status }): NodeUsage => ({
      name: metadata.name,
      usage,
      allocatable: new Map(Object.entries(status.allocatable)),
    }),
  );
  const [header = [], ...rows] = nodeUsageTable(usages, options.sortBy);
  tablePrinter(write, { headers: options.headers ?? true }).print(header, rows);
}
