import type { ContainerRole } from '../../status/view.ts';
import type { Problem } from '../problem.ts';
import type { Container, LifecycleHandler, Probe } from '../schema/container.ts';
import { forbidden, invalid, notNegative, portNumber, required } from './words.ts';

const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe'] as const;
const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const;

/** One handler for each probe and hook, times in their ranges, and none on an init container that ends. */
export function validateHandlers(container: Container, role: ContainerRole, path: string): Problem[] {
  const { lifecycle } = container;
  const passing = role === 'init' || role === 'ephemeral';
  return [
    ...PROBES.flatMap((kind) => {
      const probe = container[kind];
      if (probe === undefined) return [];
      const refused = forbidden(
        `${path}.${kind}`,
        `may not be set for ${role} containers without restartPolicy=Always`,
      );
      return passing ? [refused] : validateProbe(probe, kind, `${path}.${kind}`);
    }),
    ...(lifecycle && passing
      ? [forbidden(`${path}.lifecycle`, `may not be set for ${role} containers without restartPolicy=Always`)]
      : []),
    ...(lifecycle?.postStart ? validateHandler(lifecycle.postStart, `${path}.lifecycle.postStart`) : []),
    ...(lifecycle?.preStop ? validateHandler(lifecycle.preStop, `${path}.lifecycle.preStop`) : []),
  ];
}

function validateProbe(probe: Probe, kind: (typeof PROBES)[number], path: string): Problem[] {
  const { successThreshold = 1, terminationGracePeriodSeconds: grace } = probe;
  const times = [
    'initialDelaySeconds',
    'timeoutSeconds',
    'periodSeconds',
    'successThreshold',
    'failureThreshold',
  ] as const;
  return [
    ...validateHandler(probe, path),
    ...times.flatMap((field) => notNegative(`${path}.${field}`, probe[field])),
    ...(kind !== 'readinessProbe' && successThreshold > 1
      ? [invalid(`${path}.successThreshold`, successThreshold, 'must be 1')]
      : []),
    ...(kind === 'readinessProbe' && grace !== undefined
      ? [invalid(`${path}.terminationGracePeriodSeconds`, grace, 'must not be set for readinessProbes')]
      : []),
    ...(grace !== undefined && grace <= 0
      ? [invalid(`${path}.terminationGracePeriodSeconds`, grace, 'must be greater than 0')]
      : []),
  ];
}

function validateHandler(handler: Probe & LifecycleHandler, path: string): Problem[] {
  const [first, ...more] = HANDLERS.filter((kind) => handler[kind] !== undefined);
  const { exec, httpGet, tcpSocket, grpc, sleep } = handler;
  return [
    ...(first === undefined ? [required(path, 'must specify a handler type')] : []),
    ...more.map((kind) => forbidden(`${path}.${kind}`, 'may not specify more than 1 handler type')),
    ...(exec && (exec.command ?? []).length === 0 ? [required(`${path}.exec.command`)] : []),
    ...(httpGet ? validatePort(httpGet.port, `${path}.httpGet.port`) : []),
    ...(tcpSocket ? validatePort(tcpSocket.port, `${path}.tcpSocket.port`) : []),
    ...(grpc ? portNumber(`${path}.grpc.port`, grpc.port) : []),
    ...(sleep ? notNegative(`${path}.sleep.seconds`, sleep.seconds) : []),
  ];
}

/** A port's number or the name of one. */
function validatePort(port: number | string, path: string): Problem[] {
  if (typeof port === 'number') return portNumber(path, port);
  return isPortName(port) ? [] : [invalid(path, port, PORT_NAME_RULE)];
}

/** What a port's name must look like. */
export const PORT_NAME_RULE =
  'must be 1 to 15 lower case alphanumeric characters or single dashes between them, with at least one letter';

export function isPortName(name: string): boolean {
  return name.length <= 15 && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) && /[a-z]/.test(name);
}
