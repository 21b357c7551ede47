/** Formats a node as `kubectl describe node` does. */
import { humanDuration } from '../../base/duration.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { ResourceList } from '../../kubernetes/api/schema/scalars.ts';
import type { CoreEvent } from '../../kubernetes/events/event.ts';
import type { NodeObject } from '../../kubernetes/node/nodeObject.ts';
import { rolesOf } from '../../kubernetes/node/nodeTable.ts';
import { formatShare, nodeUse, nonTerminatedPods, shareOf } from '../../kubernetes/node/nodeUse.ts';
import { effectiveResources } from '../../kubernetes/resources/effectiveResources.ts';
import { describeEvents } from './events.ts';
import { labelLines, titledList } from './labels.ts';
import { indented, tabbed } from './tabbed.ts';
import { localTime } from './time.ts';

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
    `CreationTimestamp:\t${localTime(metadata.creationTimestamp)}`,
    ...titledList('Taints', taints),
    'Unschedulable:\tfalse',
    ...conditionLines(node),
    ...section(
      'Addresses',
      status.addresses.map(({ type, address }) => `${type}:\t${address}`),
    ),
    ...section('Capacity', amountLines(status.capacity)),
    ...section('Allocatable', amountLines(status.allocatable)),
    ...section('System Info', infoLines(node)),
    ...podLines(node, nonTerminatedPods(pods), now),
    ...useLines(node, pods),
  ];
  return `${tabbed(lines.join('\n'))}\n${describeEvents(events, now)}`;
}

const section = (title: string, lines: readonly string[]): string[] => [`${title}:`, ...indented(1, lines)];

/** Returns a header line and a line of dashes below each of its words. */
const headerLines = (...words: readonly string[]): string[] => [
  words.join('\t'),
  words.map((word) => word.replace(/./g, '-')).join('\t'),
];

function conditionLines({ status: { conditions } }: NodeObject): string[] {
  const rows = conditions.map(({ type, status, lastHeartbeatTime, lastTransitionTime, reason, message }) =>
    [`${type} `, status, localTime(lastHeartbeatTime), localTime(lastTransitionTime), reason, message].join('\t'),
  );
  const head = headerLines('Type', 'Status', 'LastHeartbeatTime', 'LastTransitionTime', 'Reason', 'Message');
  return section('Conditions', [...head, ...rows]);
}

const amountLines = (amounts: ResourceList): string[] =>
  Object.entries(amounts).map(([resource, amount]) => `${resource}:\t${amount}`);

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
    const share = (list: ResourceList, resource: string) => formatShare(shareOf([list], resource, allocatable));
    const since = metadata.creationTimestamp ?? status.startTime;
    return [
      metadata.namespace,
      metadata.name,
      '',
      share(requests, 'cpu'),
      share(limits, 'cpu'),
      share(requests, 'memory'),
      share(limits, 'memory'),
      since === undefined ? '<unknown>' : humanDuration(now - Date.parse(since)),
    ].join('\t');
  });
  const head = headerLines(
    'Namespace',
    'Name',
    '',
    'CPU Requests',
    'CPU Limits',
    'Memory Requests',
    'Memory Limits',
    'Age',
  );
  return [`Non-terminated Pods:\t(${pods.length} in total)`, ...indented(1, [...head, ...rows])];
}

function useLines(node: NodeObject, pods: readonly Pod[]): string[] {
  const rows = nodeUse(node, pods).map(({ resource, requests, limits }) =>
    [resource, formatShare(requests), formatShare(limits)].join('\t'),
  );
  return section('Allocated resources', [
    '(Total limits may be over 100 percent, i.e., overcommitted.)',
    ...headerLines('Resource', 'Requests', 'Limits'),
    ...rows,
  ]);
}
