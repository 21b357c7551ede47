/** Validates probes and lifecycle hooks (`validateHandler` of `core/validation`). */
import type { Problem } from '../../problem.ts';
import type { Container, LifecycleHandler, Probe } from '../../schema/container.ts';
import { headerNameProblems, portNameProblems } from '../metadata/nameRules.ts';
import {
  allInvalid,
  forbidden,
  invalid,
  required,
  validateNotNegative,
  validateOneOf,
  validatePortNumber,
  validateRequiredText,
} from '../words.ts';

const PROBE_FIELDS = ['livenessProbe', 'readinessProbe', 'startupProbe'] as const;
const HANDLER_FIELDS = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const;

/** Validates the hooks and probes of a container. `graceSeconds` is the pod's grace period. */
export function validateHandlers(container: Container, graceSeconds: number, path: string): Problem[] {
  const { lifecycle } = container;
  return [
    ...(lifecycle?.postStart ? validateHandler(lifecycle.postStart, graceSeconds, `${path}.lifecycle.postStart`) : []),
    ...(lifecycle?.preStop ? validateHandler(lifecycle.preStop, graceSeconds, `${path}.lifecycle.preStop`) : []),
    ...PROBE_FIELDS.flatMap((kind) => {
      const probe = container[kind];
      return probe === undefined ? [] : validateProbe(probe, kind, graceSeconds, `${path}.${kind}`);
    }),
  ];
}

/** Reports hooks and probes of an init container that is not a sidecar, because such a container must not have any. */
export function forbidHandlers(container: Container, path: string): Problem[] {
  const reason = 'may not be set for init containers without restartPolicy=Always';
  const fields = (['lifecycle', ...PROBE_FIELDS] as const).filter((field) => container[field] !== undefined);
  return fields.map((field) => forbidden(`${path}.${field}`, reason));
}

const COUNT_FIELDS = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
] as const;

function validateProbe(
  probe: Probe,
  kind: (typeof PROBE_FIELDS)[number],
  graceSeconds: number,
  path: string,
): Problem[] {
  const { successThreshold = 1, terminationGracePeriodSeconds: grace } = probe;
  const fieldPath = `${path}.terminationGracePeriodSeconds`;
  return [
    ...validateHandler(probe, graceSeconds, path),
    ...COUNT_FIELDS.flatMap((field) => validateNotNegative(`${path}.${field}`, probe[field])),
    ...(grace !== undefined && grace <= 0 ? [invalid(fieldPath, grace, 'must be greater than 0')] : []),
    ...(kind !== 'readinessProbe' && successThreshold !== 1
      ? [invalid(`${path}.successThreshold`, successThreshold, 'must be 1')]
      : []),
    ...(kind === 'readinessProbe' && grace !== undefined
      ? [invalid(fieldPath, grace, 'must not be set for readinessProbes')]
      : []),
  ];
}

/** Validates the first action of a handler and reports any additional actions. */
function validateHandler(handler: Probe & LifecycleHandler, graceSeconds: number, path: string): Problem[] {
  const [first, ...excess] = HANDLER_FIELDS.filter((kind) => handler[kind] !== undefined);
  if (first === undefined) return [required(path, 'must specify a handler type')];
  return [
    ...validateAction(handler, first, graceSeconds, `${path}.${first}`),
    ...excess.map((kind) => forbidden(`${path}.${kind}`, 'may not specify more than 1 handler type')),
  ];
}

function validateAction(
  { exec, httpGet, tcpSocket, grpc, sleep }: Probe & LifecycleHandler,
  kind: (typeof HANDLER_FIELDS)[number],
  graceSeconds: number,
  path: string,
): Problem[] {
  switch (kind) {
    case 'exec':
      return exec?.command?.length ? [] : [required(`${path}.command`)];
    case 'httpGet':
      return httpGet === undefined ? [] : validateHttpGet(httpGet, path);
    case 'tcpSocket':
      return tcpSocket === undefined ? [] : validatePort(tcpSocket.port, `${path}.port`);
    case 'grpc':
      return grpc === undefined ? [] : validatePort(grpc.port, `${path}.port`);
    case 'sleep':
      return sleep === undefined ? [] : validateSleep(sleep.seconds, graceSeconds, path);
  }
}

function validateHttpGet(
  { path: urlPath, port, scheme, httpHeaders = [] }: NonNullable<Probe['httpGet']>,
  path: string,
): Problem[] {
  return [
    ...validateRequiredText(`${path}.path`, urlPath),
    ...validatePort(port, `${path}.port`),
    ...validateOneOf(`${path}.scheme`, scheme ?? '', ['HTTP', 'HTTPS']),
    ...httpHeaders.flatMap(({ name }) => allInvalid(`${path}.httpHeaders`, name, headerNameProblems(name))),
  ];
}

const validatePort = (port: number | string, path: string): Problem[] =>
  typeof port === 'number' ? validatePortNumber(path, port) : allInvalid(path, port, portNameProblems(port));

/** Checks that a sleep does not exceed the pod's grace period. */
const validateSleep = (seconds: number, graceSeconds: number, path: string): Problem[] =>
  seconds >= 0 && seconds <= graceSeconds
    ? []
    : [invalid(path, seconds, `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`)];
