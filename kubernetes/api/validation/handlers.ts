/** Validates probes and lifecycle hooks (`validateHandler` of `core/validation`). */
import type { Problem } from '../problem.ts';
import type { Container, LifecycleHandler, Probe } from '../schema/container.ts';
import { headerName, portName } from './nameRules.ts';
import { allInvalid, forbidden, invalid, notNegative, oneOf, portNumber, required, requiredText } from './words.ts';

const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe'] as const;
const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const;

/** Validates the hooks and probes of a container. `graceSeconds` is the pod's grace period. */
export function validateHandlers(container: Container, graceSeconds: number, path: string): Problem[] {
  const { lifecycle } = container;
  return [
    ...(lifecycle?.postStart ? validateHandler(lifecycle.postStart, graceSeconds, `${path}.lifecycle.postStart`) : []),
    ...(lifecycle?.preStop ? validateHandler(lifecycle.preStop, graceSeconds, `${path}.lifecycle.preStop`) : []),
    ...PROBES.flatMap((kind) => {
      const probe = container[kind];
      return probe === undefined ? [] : validateProbe(probe, kind, graceSeconds, `${path}.${kind}`);
    }),
  ];
}

/** Reports hooks and probes of an init container that runs to completion, which must not have any. */
export function forbidHandlers(container: Container, path: string): Problem[] {
  const reason = 'may not be set for init containers without restartPolicy=Always';
  const fields = (['lifecycle', ...PROBES] as const).filter((field) => container[field] !== undefined);
  return fields.map((field) => forbidden(`${path}.${field}`, reason));
}

const COUNT_FIELDS = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
] as const;

function validateProbe(probe: Probe, kind: (typeof PROBES)[number], graceSeconds: number, path: string): Problem[] {
  const { successThreshold = 1, terminationGracePeriodSeconds: grace } = probe;
  const fieldPath = `${path}.terminationGracePeriodSeconds`;
  return [
    ...validateHandler(probe, graceSeconds, path),
    ...COUNT_FIELDS.flatMap((field) => notNegative(`${path}.${field}`, probe[field])),
    ...(grace !== undefined && grace <= 0 ? [invalid(fieldPath, grace, 'must be greater than 0')] : []),
    ...(kind !== 'readinessProbe' && successThreshold !== 1
      ? [invalid(`${path}.successThreshold`, successThreshold, 'must be 1')]
      : []),
    ...(kind === 'readinessProbe' && grace !== undefined
      ? [invalid(fieldPath, grace, 'must not be set for readinessProbes')]
      : []),
  ];
}

/** Validates the first action of a handler and reports any others. */
function validateHandler(handler: Probe & LifecycleHandler, graceSeconds: number, path: string): Problem[] {
  const [first, ...excess] = HANDLERS.filter((kind) => handler[kind] !== undefined);
  if (first === undefined) return [required(path, 'must specify a handler type')];
  return [
    ...validateAction(handler, first, graceSeconds, `${path}.${first}`),
    ...excess.map((kind) => forbidden(`${path}.${kind}`, 'may not specify more than 1 handler type')),
  ];
}

function validateAction(
  { exec, httpGet, tcpSocket, grpc, sleep }: Probe & LifecycleHandler,
  kind: (typeof HANDLERS)[number],
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
    ...requiredText(`${path}.path`, urlPath),
    ...validatePort(port, `${path}.port`),
    ...oneOf(`${path}.scheme`, scheme ?? '', ['HTTP', 'HTTPS']),
    ...httpHeaders.flatMap(({ name }) => allInvalid(`${path}.httpHeaders`, name, headerName(name))),
  ];
}

/** Checks a port number or name. */
const validatePort = (port: number | string, path: string): Problem[] =>
  typeof port === 'number' ? portNumber(path, port) : allInvalid(path, port, portName(port));

/** Checks that a sleep does not exceed the pod's grace period. */
const validateSleep = (seconds: number, graceSeconds: number, path: string): Problem[] =>
  seconds >= 0 && seconds <= graceSeconds
    ? []
    : [invalid(path, seconds, `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`)];
