/** The columns by kind (`pkg/printers/internalversion/printers.go` of kubernetes). */

import { lookUp } from '../../../base/values/lookUp.ts';
import type { PodStatus } from '../../../kubernetes/api/schema/status.ts';
import { formatQuantity, nanosOf } from '../../../kubernetes/api/values/quantity.ts';
import { podRow } from '../../../show/tables/table.ts';
import { type JsonObject, numberAt, objectAt, textAt } from '../json.ts';
import { objectsAt, specOf, statusOf } from '../registry/strategies/parts.ts';
import { readPod } from '../registry/strategies/pods/readPod.ts';
import { AGE, at, type Column, countOf, NAME, since, text, typed, wide } from './column.ts';

const POD_COLUMNS = [
  ['Ready', 'ready'],
  ['Status', 'status'],
  ['Restarts', 'restarts'],
  ['Age', 'age'],
] as const;
const WIDE_POD_COLUMNS = [
  ['IP', 'ip'],
  ['Node', 'node'],
  ['Nominated Node', 'nominatedNode'],
  ['Readiness Gates', 'readinessGates'],
] as const;

function podCell(pod: JsonObject, field: Exclude<keyof ReturnType<typeof podRow>, 'name'>, now: number): string {
  const read = readPod(pod);
  // A bookmark is an empty pod.
  const { metadata, spec } = 'pod' in read ? read.pod : { metadata: { name: '' }, spec: { containers: [] } };
  // Safe cast, because the object has been decoded with the schema of a pod.
  const status = statusOf(pod) as PodStatus;
  const named = { namespace: '', uid: '', ...metadata };
  return podRow({ apiVersion: 'v1', kind: 'Pod', spec, metadata: named, status }, now)[field];
}

const pods: readonly Column[] = [
  NAME,
  ...POD_COLUMNS.map(([name, field]) => text(name, (pod, now) => podCell(pod, field, now))),
  ...WIDE_POD_COLUMNS.map(([name, field]) => wide(name, (pod, now) => podCell(pod, field, now))),
];

const ROLE = 'node-role.kubernetes.io/';
const OLD_ROLE = 'kubernetes.io/role';

function rolesOf(node: JsonObject): string {
  const labels = Object.entries(objectAt(objectAt(node, 'metadata'), 'labels'));
  const roles = labels.flatMap(([label, value]) => {
    if (label === OLD_ROLE) return [String(value)];
    return label.startsWith(ROLE) ? [label.slice(ROLE.length)] : [];
  });
  return roles.sort().join(',') || '<none>';
}

function nodeStatus(node: JsonObject): string {
  const ready = objectsAt(statusOf(node), 'conditions').find((each) => textAt(each, 'type') === 'Ready');
  const word = ready === undefined ? 'Unknown' : textAt(ready, 'status') === 'True' ? 'Ready' : 'NotReady';
  return lookUp(specOf(node), 'unschedulable') === true ? `${word},SchedulingDisabled` : word;
}

const address = (type: string) => (node: JsonObject) => {
  const found = objectsAt(statusOf(node), 'addresses').find((each) => textAt(each, 'type') === type);
  return textAt(found ?? {}, 'address') || '<none>';
};

function kernel(node: JsonObject): string {
  const info = objectAt(statusOf(node), 'nodeInfo');
  const [version, architecture] = [textAt(info, 'kernelVersion'), textAt(info, 'architecture')];
  if (version === '') return '<unknown>';
  return architecture === '' ? version : `${version} (${architecture})`;
}

const nodes: readonly Column[] = [
  NAME,
  text('Status', nodeStatus),
  text('Roles', rolesOf),
  AGE,
  text('Version', at('status.nodeInfo.kubeletVersion')),
  wide('Internal-IP', address('InternalIP')),
  wide('External-IP', address('ExternalIP')),
  wide('OS-Image', at('status.nodeInfo.osImage', '<unknown>')),
  wide('Kernel-Version', kernel),
  wide('Container-Runtime', at('status.nodeInfo.containerRuntimeVersion', '<unknown>')),
];

/** Returns the time since an event was first or last seen, from any of its time fields. */
function seenAgo(event: JsonObject, which: 'firstTimestamp' | 'lastTimestamp', now: number): string {
  const series = which === 'lastTimestamp' ? textAt(objectAt(event, 'series'), 'lastObservedTime') : '';
  return since(series || textAt(event, which) || textAt(event, 'eventTime'), now);
}

function about(event: JsonObject): string {
  const involved = objectAt(event, 'involvedObject');
  return `${textAt(involved, 'kind').toLowerCase()}/${textAt(involved, 'name')}`;
}

function source(event: JsonObject): string {
  const from = objectAt(event, 'source');
  const component = textAt(from, 'component') || textAt(event, 'reportingComponent');
  const host = textAt(from, 'host') || textAt(event, 'reportingInstance');
  return host === '' ? component : `${component}, ${host}`;
}

const counted = (event: JsonObject): number =>
  numberAt(objectAt(event, 'series'), 'count') ?? (numberAt(event, 'count') || 1);

const events: readonly Column[] = [
  text('Last Seen', (event, now) => seenAgo(event, 'lastTimestamp', now)),
  text('Type', at('type')),
  text('Reason', at('reason')),
  text('Object', about),
  wide('Subobject', at('involvedObject.fieldPath')),
  wide('Source', source),
  text('Message', (event) => textAt(event, 'message').trim()),
  wide('First Seen', (event, now) => seenAgo(event, 'firstTimestamp', now)),
  wide('Count', counted),
  { ...NAME, isWide: true },
];

function ports(service: JsonObject): string {
  const shown = objectsAt(specOf(service), 'ports').map((port) => {
    const nodePort = numberAt(port, 'nodePort');
    return `${numberAt(port, 'port') ?? 0}${nodePort ? `:${nodePort}` : ''}/${textAt(port, 'protocol')}`;
  });
  return shown.join(',') || '<none>';
}

const selector = (service: JsonObject): string =>
  Object.entries(objectAt(specOf(service), 'selector'))
    .map(([name, value]) => `${name}=${String(value)}`)
    .sort()
    .join(',') || '<none>';

const services: readonly Column[] = [
  NAME,
  text('Type', at('spec.type')),
  text('Cluster-IP', at('spec.clusterIP', '<none>')),
  text('External-IP', at('spec.externalName', '<none>')),
  text('Port(s)', ports),
  AGE,
  wide('Selector', selector),
];

const priorityClasses: readonly Column[] = [
  NAME,
  typed('integer', 'Value', (object) => numberAt(object, 'value') ?? 0),
  typed('boolean', 'Global-Default', (object) => lookUp(object, 'globalDefault') ?? false),
  AGE,
  text('PreemptionPolicy', at('preemptionPolicy')),
];

/** The usage of a node, or the total of a pod's containers. */
function totalUsage(object: JsonObject, name: string, family: 'decimal' | 'binary'): string {
  const usages = [object, ...objectsAt(object, 'containers')].map((each) => textAt(objectAt(each, 'usage'), name));
  const nanos = usages.filter((each) => each !== '').map(nanosOf);
  return formatQuantity(
    nanos.reduce((sum, each) => sum + each, 0n),
    family,
  );
}

const metricsColumns: readonly Column[] = [
  NAME,
  text('cpu', (object) => totalUsage(object, 'cpu', 'decimal')),
  text('memory', (object) => totalUsage(object, 'memory', 'binary')),
  text('Window', at('window')),
];

const COLUMNS: ReadonlyMap<string, readonly Column[]> = new Map([
  ['ConfigMap', [NAME, text('Data', countOf('data', 'binaryData')), AGE]],
  ['Event', events],
  ['Lease', [NAME, text('Holder', at('spec.holderIdentity')), AGE]],
  ['Namespace', [NAME, text('Status', at('status.phase')), AGE]],
  ['Node', nodes],
  ['NodeMetrics', metricsColumns],
  ['Pod', pods],
  ['PodMetrics', metricsColumns],
  ['PriorityClass', priorityClasses],
  ['RuntimeClass', [NAME, text('Handler', at('handler')), AGE]],
  ['Secret', [NAME, text('Type', at('type')), text('Data', countOf('data')), AGE]],
  ['Service', services],
  ['ServiceAccount', [NAME, AGE]],
]);

/** The columns of all other kinds. */
const PLAIN: readonly Column[] = [
  NAME,
  typed('date', 'Created At', (object) => textAt(objectAt(object, 'metadata'), 'creationTimestamp')),
];

export const columnsOf = (kind: string): readonly Column[] => COLUMNS.get(kind) ?? PLAIN;
