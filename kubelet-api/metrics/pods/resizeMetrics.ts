/** Measures in-place pod resizes (`pkg/kubelet/metrics/metrics.go`). */

import { lookUp } from '../../../base/values/lookUp.ts';
import { containersOf } from '../../../kubernetes/api/pods/containers.ts';
import type { Pod, PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import { infeasibleDetail, RESIZABLE_RESOURCES } from '../../../kubernetes/resources/resize.ts';
import { amountOf } from '../../../kubernetes/resources/resources.ts';
import type { ResizeTrigger } from '../../../machines/shared/events/machineDecision.ts';
import { RESIZE_BUCKETS_MS } from '../buckets.ts';
import { alpha, type Registry } from '../registry.ts';

type SpecResources = NonNullable<PodSpec['containers'][number]['resources']>;

const RESOURCE_FIELDS = ['requests', 'limits'] as const;

export class ResizeMetrics {
  readonly #families: ReturnType<typeof registerResizeFamilies>;

  constructor(registry: Registry) {
    this.#families = registerResizeFamilies(registry);
  }

  /**
   * Counts the resource amounts that a pod update changes (`recordContainerResizeOperations` in
   * `pkg/kubelet/kubelet.go`).
   */
  updated(before: PodSpec, after: PodSpec): void {
    const previousResources = new Map(
      listResizableContainers(before).map(({ name, resources = {} }) => [name, resources]),
    );
    for (const { name, resources = {} } of listResizableContainers(after)) {
      const old = previousResources.get(name);
      if (old === undefined || old === resources) continue;
      for (const resource of RESIZABLE_RESOURCES) {
        for (const requirement of RESOURCE_FIELDS) {
          const resizeOperation = classifyResize(old, resources, { resource, requirement });
          if (resizeOperation !== undefined) this.#families.requested.add([resizeOperation, requirement, resource]);
        }
      }
    }
  }

  /**
   * Counts a request for an infeasible resize. As in the kubelet, the same request is counted again after a restart of
   * the agent.
   */
  infeasible(message: string): void {
    this.#families.infeasible.add([infeasibleDetail(message)]);
  }

  deferredAccepted(trigger: ResizeTrigger): void {
    this.#families.deferredAccepted.add([trigger]);
  }

  /** Called after an attempt to resize a pod. `ms` is the duration of the attempt. */
  resized(ms: number, success: boolean): void {
    this.#families.duration.observe([String(success)], ms);
  }

  /** Sets the gauges from the conditions of the pods. */
  collect(pods: readonly Pod[]): void {
    const { pending, inProgress } = this.#families;
    pending.clear();
    let resizingCount = 0;
    for (const { status } of pods) {
      for (const { type, reason = '' } of status?.conditions ?? []) {
        if (type === 'PodResizePending') pending.add([reason.toLowerCase()], 1);
        if (type === 'PodResizeInProgress') resizingCount += 1;
      }
    }
    inProgress.set([], resizingCount);
  }
}

const listResizableContainers = (spec: PodSpec) =>
  [...containersOf(spec)].flatMap(({ container, role }) => (role === 'ephemeral' ? [] : [container]));

/**
 * Returns the kubelet's name for a change of a request or limit, or undefined if the request or limit is unchanged
 * (`resizeOperationForResources`).
 */
function classifyResize(
  previousResources: SpecResources,
  nextResources: SpecResources,
  {
    resource,
    requirement,
  }: {
    readonly resource: (typeof RESIZABLE_RESOURCES)[number];
    readonly requirement: (typeof RESOURCE_FIELDS)[number];
  },
): string | undefined {
  const has = (resources: SpecResources) => lookUp(resources[requirement], resource) !== undefined;
  const [old, now] = [previousResources, nextResources].map((resources) =>
    has(resources) ? amountOf(resources, requirement, resource) : 0,
  );
  if (old === undefined || now === undefined || old === now) return undefined;
  if (now === 0) return 'remove';
  if (old === 0) return 'add';
  return now < old ? 'decrease' : 'increase';
}

const registerResizeFamilies = ({ counter, gauge, histogram }: Registry) => ({
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
