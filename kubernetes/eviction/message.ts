/** Formats the eviction message of a pod (`evictionMessage` in `pkg/kubelet/eviction/helpers.go`). */

import { lookUp } from '../../base/values/lookUp.ts';
import type { Pod } from '../api/schema/pod.ts';
import { canonicalQuantity, nanosOf } from '../api/values/quantity.ts';
import { amountText, formatBinary } from './amounts.ts';
import type { Observations } from './pressure.ts';
import { type PressureCondition, resourceOf, type StarvedResource } from './signals.ts';
import { type Threshold, thresholdText } from './thresholds.ts';
import type { ContainerUsage, PodUsage } from './usage.ts';

/** Reason in the status and in the event of an evicted pod. */
export const EVICTED = 'Evicted' as const;

export interface EvictionMessage {
  readonly message: string;
  /** Annotations of the `Evicted` event. */
  readonly annotations: Readonly<Record<string, string>>;
}

interface EvictionCause {
  readonly threshold: Threshold;
  readonly observations: Observations;
  /** Undefined if the usage of the pod is unknown. */
  readonly usage: PodUsage | undefined;
}

/** Returns the message and annotations for evicting a pod because of a threshold. */
export function evictionMessage(pod: Pod, { threshold, observations, usage }: EvictionCause): EvictionMessage {
  const resource = resourceOf(threshold.signal);
  const shortageSentence = `The node was low on resource: ${resource}. ${thresholdSentence(threshold, observations)}`;
  if (usage === undefined) return { message: shortageSentence, annotations: {} };
  const podRequest = lookUp(pod.spec.resources?.requests, resource);
  const podUsage =
    resource === 'memory' && podRequest !== undefined && usage.memoryBytes !== undefined
      ? { name: pod.metadata.name, used: formatBinary(usage.memoryBytes), request: canonicalQuantity(podRequest) }
      : undefined;
  const offenders = offendingContainers(pod, usage, resource);
  return {
    message: [
      shortageSentence,
      podUsage === undefined ? '' : consumptionSentence('Pod', podUsage, resource),
      ...offenders.map((each) => consumptionSentence('Container', each, resource)),
    ].join(''),
    annotations: {
      ...(podUsage === undefined ? {} : { offending_pod: podUsage.name, offending_pod_usage: podUsage.used }),
      offending_containers: offenders.map(({ name }) => name).join(','),
      offending_containers_usage: offenders.map(({ used }) => used).join(','),
      starved_resource: resource,
    },
  };
}

function thresholdSentence({ signal, value }: Threshold, observations: Observations): string {
  const observation = observations[signal];
  if (observation === undefined) return '';
  const { available, capacity } = observation;
  return `Threshold quantity: ${thresholdText(value, capacity)}, available: ${amountText(signal, available)}. `;
}

interface Consumption {
  readonly name: string;
  readonly used: string;
  readonly request: string;
}

const consumptionSentence = (kind: 'Pod' | 'Container', { name, used, request }: Consumption, resource: string) =>
  `${kind} ${name} was using ${used}, request is ${request}, has larger consumption of ${resource}. `;

/** Returns the containers that use more than they request. Ephemeral containers cannot request anything. */
function offendingContainers({ spec }: Pod, usage: PodUsage, resource: StarvedResource): Consumption[] {
  const containers = [...spec.containers, ...(spec.initContainers ?? [])];
  return usage.containers.flatMap((containerUsage) => {
    const container = containers.find(({ name }) => name === containerUsage.name);
    const usedBytes = containerUsageOf(containerUsage, resource);
    if (container === undefined || usedBytes === undefined) return [];
    const request = lookUp(container.resources?.requests, resource) ?? '0';
    if (BigInt(usedBytes) * 1_000_000_000n <= nanosOf(request)) return [];
    return [{ name: container.name, used: formatBinary(usedBytes), request: canonicalQuantity(request) }];
  });
}

/** Returns the bytes of a resource that a container uses. Undefined if they are unknown or not counted per container. */
function containerUsageOf({ memoryBytes, rootfs, logs }: ContainerUsage, resource: StarvedResource) {
  if (resource === 'memory') return memoryBytes;
  if (resource !== 'ephemeral-storage' || rootfs?.bytes === undefined || logs?.bytes === undefined) return undefined;
  return rootfs.bytes + logs.bytes;
}

/** Returns the kubelet's message about a pod that the node refuses because of these pressure conditions. */
export const pressureMessage = (conditions: readonly PressureCondition[]): string =>
  `The node had condition: [${conditions.join(' ')}]. `;
