/** Formats a node as `kubectl describe node` does. */
import { humanDuration } from '../../base/time/duration.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { ResourceList } from '../../kubernetes/api/schema/scalars.ts';
import type { CoreEvent } from '../../kubernetes/events/event.ts';
import type { NodeObject } from '../../kubernetes/node/nodeObject.ts';
import { rolesOf } from '../../kubernetes/node/nodeTable.ts';
import { formatShare, nodeUse, nonTerminatedPods, shareOf } from '../../kubernetes/node/nodeUse.ts';
import { effectiveResources } from '../../kubernetes/resources/effectiveResources.ts';
import { describeEvents } from './events.ts';
import { formatLocalTime } from './formatLocalTime.ts';
import { labelLines, titledList } from './labels.ts';
import { alignColumns, indentLines } from './tabbed.ts';

/** Formats a node with its pods and events. `now` is in milliseconds since the epoch. */
export function describeNode(
  node: NodeObject,
  pods: readonly Pod[],
  events: readonly CoreEvent[],
  now: number,
): string {
  const { metadata, spec, status } = node;
  const taints = (spec.taints ?? []).map(({ key, value, effect }) => `${key}${value ? `=${value}` : ''}:${effect}`);
  const lines = [
    `Name:\t${metadata.name}`,
    `Roles:\t${rolesOf(node)}`,
    ...titledList('Labels', labelLines(metadata.labels)),
    'Annotations:\t<none>',
    `CreationTimestamp:\t${formatLocalTime(metadata.creationTimestamp)}`,
    ...titledList('Taints', taints),
    'Unschedulable:\tfalse',
    ...conditionLines(node),
    ...section(
      'Addresses',
      status.addresses.map(({ type, address }) => `${type}:\t${address}`),
    ),
    ...section('Capacity', quantityLines(status.capacity)),
    ...section('Allocatable', quantityLines(status.allocatable)),
    ...section('System Info', infoLines(node)),
    ...podLines(node, nonTerminatedPods(pods), now),
    ...usageLines(node, pods),
  ];
  return `${alignColumns(lines.join('\n'))}\n${describeEvents(events, now)}`;
}

const section = (title: string, lines: readonly string[]): string[] => [`${title}:`, ...indentLines(1, lines)];

/** Returns a header line and a line of dashes below each of its words. */
const headerLines = (...words: readonly string[]): string[] => [
  words.join('\t'),
  words.map((word) => word.replace(/./g, '-')).join('\t'),
];

function conditionLines({ status: { conditions } }: NodeObject): string[] {
  const rows = conditions.map(({ type, status, lastHeartbeatTime, lastTransitionTime, reason, message }) =>
    [`${type} `, status, formatLocalTime(lastHeartbeatTime), formatLocalTime(lastTransitionTime), reason, message].join(
      '\t',
    ),
  );
  const headerRows = headerLines('Type', 'Status', 'LastHeartbeatTime', 'LastTransitionTime', 'Reason', 'Message');
  return section('Conditions', [...headerRows, ...rows]);
}

const quantityLines = (quantities: ResourceList): string[] =>
  Object.entries(quantities).map(([resource, amount]) => `${resource}:\t${amount}`);

function infoLines({ status: { nodeInfo } }: NodeObject): string[] {
  return [
    `Machine ID:\t${nodeInfo.machineID}`,
    `System UUID:\t${nodeInfo.systemUUID}`,
    `Boot ID:\t${nodeInfo.bootID}`,
    `Kernel Version:\t${nodeInfo.kernelVersion}`,
    `OS Image:\t${nodeInfo.osImage}`,
    `Operating System:\t${nodeInfo.operatingSystem}`,
    `Architecture:\t${nodeInfo.architecture}`,
    `Container Runtime Version:\t${nodeInfo.containerRuntimeVersion}`,
    `Kubelet Version:\t${nodeInfo.kubeletVersion}`,
  ];
}

function podLines({ status: { allocatable } }: NodeObject, pods: readonly Pod[], now: number): string[] {
  const rows = pods.map(({ metadata, spec, status = {} }) => {
    const { requests = {}, limits = {} } = effectiveResources(spec);
    const usageShare = (list: ResourceList, resource: string) => formatShare(shareOf([list], resource, allocatable));
    const startedAt = metadata.creationTimestamp ?? status.startTime;
    return [
      metadata.namespace,
      metadata.name,
      '',
      usageShare(requests, 'cpu'),
      usageShare(limits, 'cpu'),
      usageShare(requests, 'memory'),
      usageShare(limits, 'memory'),
      startedAt === undefined ? '<unknown>' : humanDuration(now - Date.parse(startedAt)),
    ].join('\t');
  });
  const headerRows = headerLines(
    'Namespace',
    'Name',
    '',
    'CPU Requests',
    'CPU Limits',
    'Memory Requests',
    'Memory Limits',
    'Age',
  );
  return [`Non-terminated Pods:\t(${pods.length} in total)`, ...indentLines(1, [...headerRows, ...rows])];
}

function usageLines(node: NodeObject, pods: readonly Pod[]): string[] {
  const rows = nodeUse(node, pods).map(({ resource, requests, limits }) =>
    [resource, formatShare(requests), formatShare(limits)].join('\t'),
  );
  return section('Allocated resources', [
    '(Total limits may be over 100 percent, i.e., overcommitted.)',
    ...headerLines('Resource', 'Requests', 'Limits'),
    ...rows,
  ]);
}
