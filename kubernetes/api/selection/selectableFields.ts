/** Fields by which an API server can select the node's objects. */
import type { CoreEvent } from '../../events/event.ts';
import type { NodeObject } from '../../node/nodeObject.ts';
import type { Pod } from '../schema/pod.ts';
import type { SelectableFields } from './fieldSelector.ts';

/** The selectable fields of pods (`ToSelectableFields` in k8s.io/kubernetes/pkg/registry/core/pod/strategy.go). */
export const podFields: SelectableFields<Pod> = new Map([
  ['metadata.name', ({ metadata }) => metadata.name],
  ['metadata.namespace', ({ metadata }) => metadata.namespace],
  ['spec.nodeName', ({ spec }) => spec.nodeName ?? ''],
  ['spec.restartPolicy', ({ spec }) => spec.restartPolicy ?? ''],
  ['spec.schedulerName', ({ spec }) => spec.schedulerName ?? ''],
  ['spec.serviceAccountName', ({ spec }) => spec.serviceAccountName ?? ''],
  ['spec.hostNetwork', ({ spec }) => String(spec.hostNetwork ?? false)],
  ['status.phase', ({ status }) => status?.phase ?? ''],
  ['status.podIP', ({ status }) => status?.podIPs?.[0]?.ip ?? ''],
]);

/** The selectable fields of nodes (k8s.io/kubernetes/pkg/registry/core/node/strategy.go). */
export const nodeFields: SelectableFields<NodeObject> = new Map<string, (node: NodeObject) => string>([
  ['metadata.name', ({ metadata }) => metadata.name],
  // Always false, because the node cannot be cordoned without an API server.
  ['spec.unschedulable', () => 'false'],
]);

/** The selectable fields of events (k8s.io/kubernetes/pkg/registry/core/event/strategy.go). */
export const eventFields: SelectableFields<CoreEvent> = new Map([
  ['metadata.name', ({ metadata }) => metadata.name],
  ['metadata.namespace', ({ metadata }) => metadata.namespace],
  ['involvedObject.kind', ({ involvedObject }) => involvedObject.kind],
  ['involvedObject.namespace', ({ involvedObject }) => involvedObject.namespace ?? ''],
  ['involvedObject.name', ({ involvedObject }) => involvedObject.name],
  ['involvedObject.uid', ({ involvedObject }) => involvedObject.uid ?? ''],
  ['involvedObject.apiVersion', ({ involvedObject }) => involvedObject.apiVersion ?? ''],
  ['involvedObject.fieldPath', ({ involvedObject }) => involvedObject.fieldPath ?? ''],
  ['reason', ({ reason }) => reason],
  ['reportingComponent', ({ reportingComponent }) => reportingComponent],
  ['source', ({ source }) => source.component],
  ['type', ({ type }) => type],
]);
