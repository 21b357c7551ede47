/** Measures in-place pod resizes (`pkg/kubelet/metrics/metrics.go`). */

import { lookUp } from '../../../base/lookUp.ts';
import { containersOf } from '../../../kubernetes/api/containers.ts';
import type { Pod, PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import type { PodCondition, PodStatus } from '../../../kubernetes/api/schema/status.ts';
import { infeasibleDetail } from '../../../kubernetes/resources/resize.ts';
import { amountOf } from '../../../kubernetes/resources/resources.ts';
import type { ResizeTrigger } from '../../../machines/shared/machineDecision.ts';
import { RESIZE_BUCKETS_MS } from '../buckets.ts';
import { alpha, type Registry } from '../registry.ts';

type SpecResources = NonNullable<PodSpec['containers'][number]['resources']>;

const RESOURCES = ['memory', 'cpu'] as const;
const REQUIREMENTS = ['requests', 'limits'] as const;

export class ResizeMetrics {
  readonly #families: ReturnType<typeof resizeFamilies>;
  /** The duration so far of each pod's resize in progress, in milliseconds, by pod UID. */
  readonly #durations = new Map<string, number>();

  constructor(registry: Registry) {
    this.#families = resizeFamilies(registry);
  }

  /**
   * Counts the resource amounts that a pod update changes (`recordContainerResizeOperations` in
   * `pkg/kubelet/kubelet.go`).
   */
  updated(before: PodSpec, after: PodSpec): void {
    const resourcesBefore = new Map(resizable(before).map(({ name, resources = {} }) => [name, resources]));
    for (const { name, resources = {} } of resizable(after)) {
      const old = resourcesBefore.get(name);
      if (old === undefined || old === resources) continue;
      for (const resource of RESOURCES) {
        for (const requirement of REQUIREMENTS) {
          const operation = operationOf(old, resources, { resource, requirement });
          if (operation !== undefined) this.#families.requested.add([operation, requirement, resource]);
        }
      }
    }
  }

  /**
   * Counts a resize that became infeasible. As in a kubelet, the resize is counted again after a restart of the agent.
   */
  statusChanged(before: PodStatus | undefined, now: PodStatus): void {
    const pending = pendingOf(now);
    if (pending?.reason !== 'Infeasible' || isSameVerdict(pendingOf(before), pending)) return;
    this.#families.infeasible.add([infeasibleDetail(pending.message ?? '')]);
  }

  deferredAccepted(trigger: ResizeTrigger): void {
    this.#families.deferredAccepted.add([trigger]);
  }

  /** Called after an attempt to resize a container. The time counts towards the resize of the container's pod. */
  containerResized(uid: string, ms: number, failed: boolean): void {
    this.#durations.set(uid, (this.#durations.get(uid) ?? 0) + ms);
    if (failed) this.#observe(uid, false);
  }

  /** Called after an attempt to resize the cgroup of a pod, which completes a resize. */
  podFitted(uid: string, ms: number, failed: boolean): void {
    this.#durations.set(uid, (this.#durations.get(uid) ?? 0) + ms);
    this.#observe(uid, !failed);
  }

  forget(uid: string): void {
    this.#durations.delete(uid);
  }

  #observe(uid: string, success: boolean): void {
    this.#families.duration.observe([String(success)], this.#durations.get(uid) ?? 0);
    this.#durations.delete(uid);
  }

  /** Sets the gauges from the conditions of the pods. */
  collect(pods: readonly Pod[]): void {
    const { pending, inProgress } = this.#families;
    pending.clear();
    let resizing = 0;
    for (const { status } of pods) {
      for (const { type, reason = '' } of status?.conditions ?? []) {
        if (type === 'PodResizePending') pending.add([reason.toLowerCase()], 1);
        if (type === 'PodResizeInProgress') resizing += 1;
      }
    }
    inProgress.set([], resizing);
  }
}

const pendingOf = (status: PodStatus | undefined): PodCondition | undefined =>
  status?.conditions?.find(({ type }) => type === 'PodResizePending');

const isSameVerdict = (one: PodCondition | undefined, other: PodCondition): boolean =>
  one !== undefined &&
  one.reason === other.reason &&
  one.message === other.message &&
  one.observedGeneration === other.observedGeneration;

const resizable = (spec: PodSpec) =>
  [...containersOf(spec)].flatMap(({ container, role }) => (role === 'ephemeral' ? [] : [container]));

/**
 * Returns the kubelet's name for a change of an amount, or undefined if the amount is unchanged
 * (`resizeOperationForResources`).
 */
function operationOf(
  before: SpecResources,
  after: SpecResources,
  {
    resource,
    requirement,
  }: { readonly resource: (typeof RESOURCES)[number]; readonly requirement: (typeof REQUIREMENTS)[number] },
): string | undefined {
  const has = (resources: SpecResources) => lookUp(resources[requirement], resource) !== undefined;
  const [old, now] = [before, after].map((resources) =>
    has(resources) ? amountOf(resources, requirement, resource) : 0,
  );
  if (old === undefined || now === undefined || old === now) return undefined;
  if (now === 0) return 'remove';
  if (old === 0) return 'add';
  return now < old ? 'decrease' : 'increase';
}

const resizeFamilies = ({ counter, gauge, histogram }: Registry) => ({
  requested: counter(
    alpha('kubelet_container_requested_resizes_total', 'Amounts that updates of pods changed, by container.', [
      'operation',
      'requirement',
      'resource',
    ]),
  ),
  duration: histogram(
    alpha(
      'kubelet_pod_resize_duration_milliseconds',
      'Time that the runtime and the cgroups take to resize a pod, in milliseconds.',
      ['success'],
    ),
    RESIZE_BUCKETS_MS,
  ),
  pending: gauge(
    alpha('kubelet_pod_pending_resizes', 'Resizes that the node has not admitted yet, by reason.', ['reason']),
  ),
  infeasible: counter(
    alpha('kubelet_pod_infeasible_resizes_total', 'Resizes that the node can never admit, by reason.', [
      'reason_detail',
    ]),
  ),
  deferredAccepted: counter(
    alpha('kubelet_pod_deferred_accepted_resizes_total', 'Deferred resizes that were admitted, by what made room.', [
      'retry_trigger',
    ]),
  ),
  inProgress: gauge(alpha('kubelet_pod_in_progress_resizes', 'Admitted resizes that have not completed.')),
});
