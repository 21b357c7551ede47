/** Formats a pod as `kubectl describe pod` does. */
import { humanDuration } from '../../base/time/duration.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { CoreEvent } from '../../kubernetes/events/event.ts';
import { qosClass } from '../../kubernetes/resources/qos.ts';
import type { LogTails } from '../logTail.ts';
import { describeContainers } from './containers.ts';
import { describeEvents } from './events.ts';
import { formatLocalTime } from './formatLocalTime.ts';
import { annotationLines, labelLines, titledList } from './labels.ts';
import { alignColumns, indentLines } from './tabbed.ts';
import { describeVolumes } from './volumes.ts';

/** Information about a pod that the pod object does not contain. */
export interface PodExtras {
  /** Last log lines of the pod's failed containers. */
  readonly logs?: LogTails;
  /** Reasons why the current manifest is rejected. */
  readonly manifestProblems?: readonly string[] | undefined;
  /** Warnings about the manifest in use. */
  readonly manifestWarnings?: readonly string[] | undefined;
}

/** Formats a pod and its events. `now` is in milliseconds since the epoch. */
export function describePod(pod: Pod, events: readonly CoreEvent[], now: number, extras: PodExtras = {}): string {
  const { logs = new Map(), manifestProblems = [], manifestWarnings = [] } = extras;
  const { spec, status = {} } = pod;
  const { initContainers = [], ephemeralContainers = [] } = spec;
  const lines = [
    ...headLines(pod),
    ...statusLines(pod, now),
    ...(initContainers.length > 0
      ? describeContainers('Init Containers', { pod, logs }, initContainers, status.initContainerStatuses)
      : []),
    ...describeContainers('Containers', { pod, logs }, spec.containers, status.containerStatuses),
    ...(ephemeralContainers.length > 0
      ? describeContainers(
          'Ephemeral Containers',
          { pod, logs },
          ephemeralContainers,
          status.ephemeralContainerStatuses,
        )
      : []),
    ...gateLines(pod),
    ...conditionLines(pod),
    ...describeVolumes(spec.volumes),
    `QoS Class:\t${status.qosClass ?? qosClass(spec)}`,
    ...titledList('Node-Selectors', labelLines(spec.nodeSelector)),
    ...titledList('Tolerations', [...(spec.tolerations ?? [])].sort(compareKeys).map(tolerationText)),
    ...(manifestProblems.length > 0 ? titledList('Manifest Problems', manifestProblems) : []),
    ...(manifestWarnings.length > 0 ? titledList('Manifest Warnings', manifestWarnings) : []),
  ];
  return `${alignColumns(lines.join('\n'))}\n${describeEvents(events, now)}`;
}

function headLines({ metadata, spec, status = {} }: Pod): string[] {
  const { priority, priorityClassName, runtimeClassName, serviceAccountName, nodeName } = spec;
  return [
    `Name:\t${metadata.name}`,
    `Namespace:\t${metadata.namespace}`,
    ...(priority === undefined ? [] : [`Priority:\t${priority}`]),
    ...(priorityClassName ? [`Priority Class Name:\t${priorityClassName}`] : []),
    ...(runtimeClassName ? [`Runtime Class Name:\t${runtimeClassName}`] : []),
    ...(serviceAccountName ? [`Service Account:\t${serviceAccountName}`] : []),
    `Node:\t${nodeName ? `${nodeName}/${status.hostIP ?? ''}` : '<none>'}`,
    ...(status.startTime ? [`Start Time:\t${formatLocalTime(status.startTime)}`] : []),
    ...titledList('Labels', labelLines(metadata.labels)),
    ...annotationLines(metadata.annotations ?? {}),
  ];
}

function statusLines({ metadata, spec, status = {} }: Pod, now: number): string[] {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, ownerReferences = [] } = metadata;
  const profile = spec.securityContext?.seccompProfile;
  const owner = ownerReferences.find(({ controller }) => controller === true);
  const ips = status.podIPs ?? [];
  return [
    ...(deletionTimestamp
      ? [
          `Status:\tTerminating (lasts ${humanDuration(now - Date.parse(deletionTimestamp))})`,
          `Termination Grace Period:\t${deletionGracePeriodSeconds}s`,
        ]
      : [`Status:\t${status.phase ?? ''}`]),
    ...(status.reason ? [`Reason:\t${status.reason}`] : []),
    ...(status.message ? [`Message:\t${status.message}`] : []),
    ...(profile ? [`SeccompProfile:\t${profile.type}`] : []),
    ...(profile?.type === 'Localhost' ? [`LocalhostProfile:\t${profile.localhostProfile ?? ''}`] : []),
    `IP:\t${status.podIP ?? ''}`,
    ...(ips.length === 0
      ? ['IPs:\t<none>']
      : [
          'IPs:',
          ...indentLines(
            1,
            ips.map(({ ip }) => `IP:\t${ip}`),
          ),
        ]),
    ...(owner ? [`Controlled By:\t${owner.kind}/${owner.name}`] : []),
    ...(status.nominatedNodeName ? [`NominatedNodeName:\t${status.nominatedNodeName}`] : []),
  ];
}

type Toleration = NonNullable<Pod['spec']['tolerations']>[number];

const compareKeys = ({ key: a = '' }: Toleration, { key: b = '' }: Toleration): number => (a < b ? -1 : a > b ? 1 : 0);

function tolerationText({ key = '', operator, value = '', effect, tolerationSeconds }: Toleration): string {
  const taint = `${key}${value ? `=${value}` : ''}${effect ? `:${effect}` : ''}`;
  const how = operator === 'Exists' && value === '' ? `${taint === '' ? '' : ' '}op=Exists` : '';
  return `${taint}${how}${tolerationSeconds === undefined ? '' : ` for ${tolerationSeconds}s`}`;
}

function gateLines({ spec: { readinessGates = [] }, status = {} }: Pod): string[] {
  if (readinessGates.length === 0) return [];
  const gateStatus = (gate: string) => status.conditions?.find(({ type }) => type === gate)?.status ?? '<none>';
  return [
    'Readiness Gates:',
    ...indentLines(1, [
      'Type\tStatus',
      ...readinessGates.map(({ conditionType: gate }) => `${gate} \t${gateStatus(gate)}`),
    ]),
  ];
}

function conditionLines({ status: { conditions = [] } = {} }: Pod): string[] {
  if (conditions.length === 0) return [];
  const conditionRows = conditions.map(({ type, status }) => `${type} \t${status}`);
  return ['Conditions:', ...indentLines(1, ['Type\tStatus', ...conditionRows])];
}
