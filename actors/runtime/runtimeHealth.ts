import { messageOf } from '../../base/failure.ts';
import type { Clock } from '../../base/time/clock.ts';
import { isJsonEqual } from '../../base/values/isJsonEqual.ts';
import type { Cri } from '../../cri/client/calls.ts';
import type { RuntimeCondition, StatusResponse } from '../../cri/generated/runtime.ts';
import type { RuntimeHandler } from '../../kubernetes/node/runtimeReport.ts';
import type { RuntimeHealth } from '../../machines/shared/events/events.ts';
import type { Alarm } from '../alarm.ts';

const QUERY_MS = 5_000;
/** Interval between queries during an outage. It is short in order to detect the end of the outage quickly. */
const OUTAGE_QUERY_MS = 500;
const QUERY_TIMEOUT_MS = 5_000;

export interface RuntimeHealthOptions {
  readonly cri: Cri;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Rings when the runtime must be queried immediately. Aborting the signal also rings the alarm. */
  readonly alarm: Alarm;
  readonly reportHealth: (health: RuntimeHealth) => void;
}

/**
 * Queries the runtime every 5 s, or every 0.5 s while the runtime is not ready, and whenever the alarm rings. Reports
 * changes of the runtime's health until the signal aborts.
 */
export async function watchRuntimeHealth({
  cri,
  clock,
  signal,
  alarm,
  reportHealth,
}: RuntimeHealthOptions): Promise<void> {
  let lastReported: RuntimeHealth | undefined;
  let lastSeenAt: number | undefined;
  while (!signal.aborted) {
    const status = await queryHealth(cri, signal, lastReported);
    const since = clock.now();
    if (signal.aborted) return;
    if (status.ready || status.lacksOnlyNetwork) lastSeenAt = since;
    else if (lastSeenAt !== undefined) status.seenAt = lastSeenAt;
    const health: RuntimeHealth = { ...status, since };
    if (lastReported === undefined || hasHealthChanged(health, lastReported)) {
      reportHealth(health);
      lastReported = health;
    }
    await alarm.waitUntil(clock.now() + (health.ready ? QUERY_MS : OUTAGE_QUERY_MS));
  }
}

const hasHealthChanged = (
  { since: _then, ...left }: RuntimeHealth,
  { since: _now, ...right }: RuntimeHealth,
): boolean => !isJsonEqual(left, right);

type HealthStatus = { -readonly [K in keyof Omit<RuntimeHealth, 'since'>]: RuntimeHealth[K] };

async function queryHealth(cri: Cri, signal: AbortSignal, reported: RuntimeHealth | undefined): Promise<HealthStatus> {
  const options = { signal, timeoutMs: QUERY_TIMEOUT_MS };
  try {
    const runtimeVersion = reported?.name && !reported.isSilent ? reported : await queryVersion(cri, options);
    return {
      name: runtimeVersion.name,
      version: runtimeVersion.version,
      ...healthStatus(await cri.status({ verbose: false }, options)),
    };
  } catch (error) {
    // Like the kubelet, retain the last known state. Otherwise a pod that waits for the network would query an
    // unreachable runtime.
    const { since, ready, seenAt, lacksOnlyNetwork, strictGroups, ...health } = reported ?? UNKNOWN_HEALTH;
    return { ...health, ready: false, message: messageOf(error), isSilent: true };
  }
}

const UNKNOWN_HEALTH: RuntimeHealth = { since: 0, ready: false, name: '', version: '' };

function healthStatus({ status, features, runtimeHandlers }: StatusResponse): Omit<HealthStatus, 'name' | 'version'> {
  const findUnmet = (wanted: string) =>
    status?.conditions.find(({ type, status: isTrue }) => !isTrue && type === wanted);
  // Only these conditions prevent starts. Other unmet conditions are not outages.
  const [runtime, network] = [findUnmet('RuntimeReady'), findUnmet('NetworkReady')];
  const failingCondition = runtime ?? network;
  const networkFields = runtime ? {} : { lacksOnlyNetwork: true as const };
  return {
    ready: failingCondition === undefined,
    strictGroups: features?.supplementalGroupsPolicy ?? false,
    ...(failingCondition ? { message: describeUnmet(failingCondition) } : {}),
    ...(runtime ? { notReadyMessage: notReadyMessage('container runtime', runtime) } : {}),
    ...(network ? { networkNotReady: notReadyMessage('container runtime network', network), ...networkFields } : {}),
    handlers: sortedHandlers(runtimeHandlers),
    ...(features ? { features: { supplementalGroupsPolicy: features.supplementalGroupsPolicy } } : {}),
  };
}

const sortedHandlers = (handlers: StatusResponse['runtimeHandlers']): RuntimeHandler[] =>
  handlers
    .map(({ name, features }) => ({
      name,
      features: {
        recursiveReadOnlyMounts: features?.recursiveReadOnlyMounts ?? false,
        userNamespaces: features?.userNamespaces ?? false,
      },
    }))
    .sort((left, right) => (left.name < right.name ? -1 : 1));

async function queryVersion(cri: Cri, options: { signal: AbortSignal; timeoutMs: number }) {
  const { runtimeName, runtimeVersion } = await cri.version({ version: '' }, options);
  return { name: runtimeName, version: runtimeVersion };
}

type UnmetCondition = Pick<RuntimeCondition, 'type' | 'reason' | 'message'>;

/** Returns the kubelet's message, which also appears in pod events. */
const notReadyMessage = (component: string, { type, reason, message }: UnmetCondition): string =>
  `${component} not ready: ${type}=false reason:${reason} message:${message}`;

const describeUnmet = ({ type, reason, message }: UnmetCondition): string =>
  `${type} is false: ${[reason, message].filter(Boolean).join(': ')}`;
