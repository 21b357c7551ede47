/** Refuses pods while the node is under pressure (`Admit` in `pkg/kubelet/eviction/eviction_manager.go`). */
import type { PodSpec } from '../api/schema/pod.ts';
import { EVICTED, pressureMessage } from '../eviction/message.ts';
import type { PressureCondition } from '../eviction/signals.ts';
import type { PodRequests } from '../resources/requests.ts';
import type { Refusal } from './refusal.ts';
import { tolerates } from './taints.ts';

const MEMORY_PRESSURE_TAINT = { key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' } as const;

/**
 * Returns the refusal of a pod because of the node's pressure (C28). Under memory pressure alone, the node refuses only
 * BestEffort pods that do not tolerate it. Critical pods are never refused, because the node needs them.
 */
export function pressureRefusal(
  { tolerations = [] }: PodSpec,
  { critical, qos }: Pick<PodRequests, 'critical' | 'qos'>,
  pressure: readonly PressureCondition[],
): Refusal | undefined {
  if (pressure.length === 0 || critical) return undefined;
  const isOnlyMemory = pressure.every((condition) => condition === 'MemoryPressure');
  if (isOnlyMemory && qos !== 'BestEffort') return undefined;
  if (isOnlyMemory && tolerations.some((each) => tolerates(each, MEMORY_PRESSURE_TAINT))) return undefined;
  return { reason: EVICTED, message: pressureMessage(pressure) };
}
