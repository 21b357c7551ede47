/** `statelet top pods` and `statelet top nodes`: the CPU and memory that they use, as `kubectl top` shows them. */
import * as z from 'zod/mini';
import { systemClock } from '../../../base/clock.ts';
import { goDuration } from '../../../base/duration.ts';
import { NodeFailure } from '../../../base/failure.ts';
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
import { agentNamed } from '../../agent.ts';
import { tablePrinter } from '../../terminal/table/printer.ts';
import { askForNodes } from '../get/readNodes.ts';
import { readNode, readPodList } from '../get/readPods.ts';
import { type SelectionOptions, selection } from '../get/selection.ts';

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

const measuredShape = z.object({
  name: z.optional(z.string()),
  cpu: z.optional(z.object({ usageNanoCores: z.optional(z.number()) })),
  memory: z.optional(z.object({ workingSetBytes: z.optional(z.number()) })),
});

type Measured = z.infer<typeof measuredShape>;

const summaryShape = z.object({
  node: measuredShape,
  pods: z.array(z.object({ podRef: z.object({ uid: z.string() }), containers: z.array(measuredShape) })),
});

/** A pod younger than this, in milliseconds, may not have been measured yet (`metricsCreationDelay` in kubectl). */
const NOT_YET_MEASURED_MS = 120_000;

const notYet = (): NodeFailure => new NodeFailure('NotFound', 'metrics not available yet');

function usageOf({ cpu, memory }: Measured): Usage | undefined {
  const { usageNanoCores: cpuNanoCores } = cpu ?? {};
  const { workingSetBytes: memoryBytes } = memory ?? {};
  return cpuNanoCores === undefined || memoryBytes === undefined ? undefined : { cpuNanoCores, memoryBytes };
}

/** Prints what the running agent's pods, or their containers, use. */
export async function topPods(options: TopUsageOptions, write: Write): Promise<void> {
  const { name, namespace, allNamespaces, headers = true } = options;
  const isSelected = selection<Pod>(options, podFields);
  const agent = await agentNamed(options);
  const inNamespace = readPodList(await agent.json('/api/v1/pods')).filter(
    ({ metadata }) => namespace === undefined || allNamespaces === true || metadata.namespace === namespace,
  );
  const pods = (name === undefined ? inNamespace : findPodsByName(name, inNamespace)).filter(isSelected);
  if (name !== undefined && pods.length === 0) throw new NodeFailure('NotFound', `pods "${name}" not found`);
  const summary = summaryShape.parse(await agent.json('/stats/summary'));
  const { simulated } = readNode(await agent.json('/node'));
  const measured = new Map(summary.pods.map(({ podRef, containers }) => [podRef.uid, containers]));
  const used = pods.flatMap((pod) => usageOfPod(pod, measured.get(pod.metadata.uid)));
  if (used.length === 0) {
    if (pods.length > 0) throw whyUnmeasured(pods);
    return void process.stderr.write('No resources found\n');
  }
  if (simulated) write('SIMULATED runtime: no real containers run\n');
  const [header = [], ...rows] = podUsageTable(used, {
    namespaces: allNamespaces === true || used.some((pod) => pod.namespace !== 'default'),
    containers: options.containers === true,
    sortBy: options.sortBy,
  });
  tablePrinter(write, { headers }).print(header, rows);
}

/** Returns nothing for a pod of which a container is not measured, because metrics-server leaves such a pod out, too. */
function usageOfPod({ metadata }: Pod, containers: readonly Measured[] = []): PodUsage[] {
  const used = containers.flatMap((container) => {
    const usage = usageOf(container);
    return usage === undefined ? [] : [{ name: container.name ?? '', usage }];
  });
  if (used.length === 0 || used.length < containers.length) return [];
  return [{ namespace: metadata.namespace, name: metadata.name, containers: used }];
}

/** Explains why none of these pods is measured, as kubectl does (`verifyEmptyMetrics` in `cmd/top/top_pod.go`). */
function whyUnmeasured(pods: readonly Pod[]): NodeFailure {
  const now = systemClock.now();
  const ageOf = ({ metadata }: Pod) => now - Date.parse(metadata.creationTimestamp ?? '');
  const old = pods.find((pod) => ageOf(pod) > NOT_YET_MEASURED_MS);
  if (old === undefined) return notYet();
  const { namespace, name } = old.metadata;
  const age = goDuration(ageOf(old));
  return new NodeFailure('NotFound', `Metrics not available for pod ${namespace}/${name}, age: ${age}`);
}

/** Prints what the node of the running agent uses, also in percent of what it can allocate to pods. */
export async function topNodes(options: TopUsageOptions, write: Write): Promise<void> {
  const isSelected = selection(options, nodeFields);
  const agent = await agentNamed(options);
  const nodes = (await askForNodes(agent, options.name)).filter(isSelected);
  if (nodes.length === 0) return void process.stderr.write('No resources found\n');
  const usage = usageOf(summaryShape.parse(await agent.json('/stats/summary')).node);
  if (usage === undefined) throw notYet();
  const used = nodes.map(
    ({ metadata, status }): NodeUsage => ({
      name: metadata.name,
      usage,
      allocatable: new Map(Object.entries(status.allocatable)),
    }),
  );
  const [header = [], ...rows] = nodeUsageTable(used, options.sortBy);
  tablePrinter(write, { headers: options.headers ?? true }).print(header, rows);
}
