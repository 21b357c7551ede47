/** Formats the containers of a pod as `kubectl describe` does. */

import { lookUp } from '../../base/values/lookUp.ts';
import type {
  Container,
  ContainerPort,
  EnvFromSource,
  EnvVar,
  Probe,
  VolumeMount,
} from '../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { ContainerState, ContainerStatus } from '../../kubernetes/api/schema/status.ts';
import { fieldValue, resourceValue } from '../../kubernetes/environment/fieldRef.ts';
import { importAdvice } from '../explain/explainText.ts';
import type { LogTail, LogTails } from '../logTail.ts';
import { formatLocalTime } from './formatLocalTime.ts';
import { indentLines } from './tabbed.ts';

export function describeContainers(
  label: string,
  { pod, logs }: { readonly pod: Pod; readonly logs: LogTails },
  containers: readonly Container[],
  statuses: readonly ContainerStatus[] = [],
): string[] {
  const containerLines = containers.flatMap((container) => {
    const status = statuses.find(({ name }) => name === container.name);
    return [
      ...indentLines(1, [`${container.name}:`]),
      ...indentLines(2, describeContainer(pod, container, status, logs.get(container.name))),
    ];
  });
  return [`${label}:${containers.length === 0 ? ' <none>' : ''}`, ...containerLines];
}

function describeContainer(
  pod: Pod,
  container: Container,
  status: ContainerStatus | undefined,
  log: LogTail | undefined,
): string[] {
  const { image, command = [], args = [], resources = {}, envFrom = [], env = [], volumeMounts = [] } = container;
  return [
    ...(status ? [`Container ID:\t${status.containerID ?? ''}`] : []),
    `Image:\t${image}`,
    ...(status ? [`Image ID:\t${status.imageID}`] : []),
    ...portLines(container.ports ?? []),
    ...seccompLines(container),
    ...section(
      'Command:',
      command.flatMap((line) => line.split('\n')),
    ),
    ...section(
      'Args:',
      args.flatMap((line) => line.split('\n')),
    ),
    ...(status ? statusLines(status) : []),
    ...(log ? [`Last Log File:\t${log.file}`, ...section('Last Log Lines:', log.lines)] : []),
    ...section('Limits:', quantityLines(resources.limits)),
    ...section('Requests:', quantityLines(resources.requests)),
    ...probeLines(container),
    ...section('Environment Variables from:', envFrom.map(envFromLine)),
    ...sectionOrNone(
      'Environment:',
      env.flatMap((variable) => envLines(pod, container, variable)),
    ),
    ...sectionOrNone('Mounts:', mountLines(volumeMounts)),
  ];
}

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [title, ...indentLines(1, lines)];

const sectionOrNone = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [`${title}\t<none>`] : section(title, lines);

function portLines(ports: readonly ContainerPort[]): string[] {
  const protocolOf = ({ protocol = 'TCP' }: ContainerPort) => protocol;
  const portLine = (name: string, numbers: readonly string[]) =>
    `${name}${numbers.length > 1 ? 's' : ''}:\t${numbers.join(', ') || '<none>'}`;
  return [
    portLine(
      'Port',
      ports.map((port) => `${port.containerPort}/${protocolOf(port)}`),
    ),
    portLine(
      'Host Port',
      ports.map((port) => `${port.hostPort ?? 0}/${protocolOf(port)}`),
    ),
  ];
}

function seccompLines({ securityContext }: Container): string[] {
  const profile = securityContext?.seccompProfile;
  if (profile === undefined) return [];
  const localProfileLines =
    profile.type === 'Localhost' ? [`  LocalhostProfile:\t${profile.localhostProfile ?? ''}`] : [];
  return [`SeccompProfile:\t${profile.type}`, ...localProfileLines];
}

function statusLines({ state = {}, lastState, ready, restartCount }: ContainerStatus): string[] {
  return [
    ...stateLines('State', state),
    ...(lastState?.terminated ? stateLines('Last State', lastState) : []),
    `Ready:\t${ready ? 'True' : 'False'}`,
    `Restart Count:\t${restartCount}`,
  ];
}

function stateLines(name: string, { running, waiting, terminated }: ContainerState): string[] {
  if (running) return [`${name}:\tRunning`, `  Started:\t${formatLocalTime(running.startedAt)}`];
  if (terminated === undefined) {
    const { reason = '' } = waiting ?? {};
    const advice = importAdvice(reason);
    return [
      `${name}:\tWaiting`,
      ...(reason === '' ? [] : [`  Reason:\t${reason}`]),
      ...(advice === undefined ? [] : [`  Advice:\t${advice}`]),
    ];
  }
  const { reason, message, exitCode, signal, startedAt, finishedAt } = terminated;
  return [
    `${name}:\tTerminated`,
    ...indentLines(1, [
      ...(reason ? [`Reason:\t${reason}`] : []),
      ...(message ? [`Message:\t${message}`] : []),
      `Exit Code:\t${exitCode}`,
      ...(signal ? [`Signal:\t${signal}`] : []),
      `Started:\t${formatLocalTime(startedAt)}`,
      `Finished:\t${formatLocalTime(finishedAt)}`,
    ]),
  ];
}

const quantityLines = (quantities: Readonly<Record<string, string>> = {}): string[] =>
  Object.keys(quantities)
    .sort()
    .map((name) => `${name}:\t${lookUp(quantities, name)}`);

function probeLines({ livenessProbe, readinessProbe, startupProbe }: Container): string[] {
  const probes = { Liveness: livenessProbe, Readiness: readinessProbe, Startup: startupProbe };
  return Object.entries(probes).flatMap(([name, probe]) => (probe ? [`${name}:\t${probeText(probe)}`] : []));
}

/** Formats a probe's handler and timing. Missing fields have the defaults of Kubernetes. */
function probeText(probe: Probe): string {
  const { initialDelaySeconds = 0, timeoutSeconds = 1, periodSeconds = 10 } = probe;
  const { successThreshold = 1, failureThreshold = 3 } = probe;
  const timings = `delay=${initialDelaySeconds}s timeout=${timeoutSeconds}s period=${periodSeconds}s`;
  return `${probeHandlerText(probe)} ${timings} #success=${successThreshold} #failure=${failureThreshold}`;
}

function probeHandlerText({ exec, httpGet, tcpSocket, grpc }: Probe): string {
  if (exec) return `exec [${(exec.command ?? []).join(' ')}]`;
  if (httpGet) {
    const { scheme = 'HTTP', host = '', port, path = '/' } = httpGet;
    return `http-get ${scheme.toLowerCase()}://${host}:${port}${path.startsWith('/') ? '' : '/'}${path}`;
  }
  if (tcpSocket) return `tcp-socket ${tcpSocket.host ?? ''}:${tcpSocket.port}`;
  return grpc ? `grpc <pod>:${grpc.port} ${grpc.service ?? ''}` : 'unknown';
}

function envFromLine({ prefix, configMapRef, secretRef }: EnvFromSource): string {
  const ref = configMapRef ?? secretRef;
  const kind = `${configMapRef ? 'ConfigMap' : 'Secret'}${prefix ? ` with prefix '${prefix}'` : ''}`;
  return `${ref?.name ?? ''}\t${kind}\tOptional: ${ref?.optional === true}`;
}

function envLines(pod: Pod, container: Container, { name, value = '', valueFrom }: EnvVar): string[] {
  if (valueFrom === undefined)
    return value.split('\n').map((line, index) => `${index === 0 ? `${name}:` : ''}\t${line}`);
  const { fieldRef, resourceFieldRef, secretKeyRef, configMapKeyRef } = valueFrom;
  if (fieldRef) {
    // Like kubectl, resolve only fields of the metadata and omit values that only the node knows.
    const isPodMetadata = fieldRef.fieldPath.startsWith('metadata.');
    const value = isPodMetadata ? (fieldValue(pod, fieldRef.fieldPath, { podIps: [], hostIps: [] }) ?? '') : '';
    return [`${name}:\t${value.replaceAll('\n', ' ')} (${fieldRef.apiVersion ?? 'v1'}:${fieldRef.fieldPath})`];
  }
  if (resourceFieldRef) {
    const value = resourceValue(pod, resourceFieldRef, { self: container, allocatable: {} }) ?? '';
    const isNodeAllocatable = value === '0' && /^limits\.(cpu|memory)$/.test(resourceFieldRef.resource);
    return [`${name}:\t${isNodeAllocatable ? 'node allocatable' : value} (${resourceFieldRef.resource})`];
  }
  if (secretKeyRef) {
    const { key, name: secret = '', optional = false } = secretKeyRef;
    return [`${name}:\t<set to the key '${key}' in secret '${secret}'>\tOptional: ${optional}`];
  }
  if (configMapKeyRef) {
    const { key, name: map = '', optional = false } = configMapKeyRef;
    return [`${name}:\t<set to the key '${key}' of config map '${map}'>\tOptional: ${optional}`];
  }
  return [];
}

const mountLines = (mounts: readonly VolumeMount[]): string[] =>
  [...mounts]
    .sort((a, b) => (a.mountPath < b.mountPath ? -1 : 1))
    .map(({ mountPath, name, readOnly, subPath }) => {
      const flags = [readOnly ? 'ro' : 'rw', ...(subPath ? [`path=${JSON.stringify(subPath)}`] : [])];
      return `${mountPath} from ${name} (${flags.join(',')})`;
    });
