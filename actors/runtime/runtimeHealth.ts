import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/failure.ts';
import { sameValue } from '../../base/sameValue.ts';
import type { Cri } from '../../cri/client/calls.ts';
import type { RuntimeCondition, StatusResponse } from '../../cri/generated/runtime.ts';
import type { RuntimeHandler } from '../../kubernetes/node/runtimeReport.ts';
import type { RuntimeHealth } from '../../machines/shared/events.ts';
import type { Alarm } from '../alarm.ts';

const QUERY_MS = 5_000;
/** Interval between queries during an outage, short in order to detect the end of the outage quickly. */
const OUTAGE_QUERY_MS = 500;
const QUERY_TIMEOUT_MS = 5_000;

export interface RuntimeHealthOptions {
  readonly cri: Cri;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Triggers an immediate query. Aborting the signal also rings it. */
  readonly alarm: Alarm;
  readonly report: (health: RuntimeHealth) => void;
}

/**
 * Queries the runtime every 5 s, when the alarm rings, and every 0.5 s while the runtime is not ready, and reports
 * changes of its health until the signal aborts.
 */
export async function watchRuntimeHealth({ cri, clock, signal, alarm, report }: RuntimeHealthOptions): Promise<void> {
  let reported: RuntimeHealth | undefined;
  let seenAt: number | undefined;
  while (!signal.aborted) {
    const status = await queryHealth(cri, signal, reported);
    const since = clock.now();
    if (signal.aborted) return;
    if (status.ready || status.lacksOnlyNetwork) seenAt = since;
    else if (seenAt !== undefined) status.seenAt = seenAt;
    const health: RuntimeHealth = { ...status, since };
    if (reported === undefined || isChanged(health, reported)) {
      report(health);
      reported = health;
    }
    await alarm.wait(clock.now() + (health.ready ? QUERY_MS : OUTAGE_QUERY_MS));
  }
}

const isChanged = ({ since: _then, ...one }: RuntimeHealth, { since: _now, ...other }: RuntimeHealth): boolean =>
  !sameValue(one, other);

type HealthStatus = { -readonly [K in keyof Omit<RuntimeHealth, 'since'>]: RuntimeHealth[K] };

async function queryHealth(cri: Cri, signal: AbortSignal, reported: RuntimeHealth | undefined): Promise<HealthStatus> {
  const options = { signal, timeoutMs: QUERY_TIMEOUT_MS };
  try {
    const identity = reported?.name && !reported.isSilent ? reported : await queryVersion(cri, options);
    return {
      name: identity.name,
      version: identity.version,
      ...healthStatus(await cri.status({ verbose: false }, options)),
    };
  } catch (error) {
    // Like the kubelet, retain the last known state. Otherwise a pod that waits for the network would query an
    // unreachable runtime.
    const { since, ready, seenAt, lacksOnlyNetwork, strictGroups, ...known } = reported ?? UNKNOWN_HEALTH;
    return { ...known, ready: false, message: messageOf(error), isSilent: true };
  }
}

const UNKNOWN_HEALTH: RuntimeHealth = { since: 0, ready: false, name: '', version: '' };

function healthStatus({ status, features, runtimeHandlers }: StatusResponse): Omit<HealthStatus, 'name' | 'version'> {
  const findUnmet = (wanted: string) => status?.conditions.find(({ type, status: holds }) => !holds && type === wanted);
  // Only these conditions prevent starts. Other conditions, such as deprecations, are no outage.
  const [runtime, network] = [findUnmet('RuntimeReady'), findUnmet('NetworkReady')];
  const failing = runtime ?? network;
  const alone = runtime ? {} : { lacksOnlyNetwork: true as const };
  return {
    ready: failing === undefined,
    strictGroups: features?.supplementalGroupsPolicy ?? false,
    ...(failing ? { message: describeUnmet(failing) } : {}),
    ...(runtime ? { notReady: notReadyMessage('container runtime', runtime) } : {}),
    ...(network ? { networkNotReady: notReadyMessage('container runtime network', network), ...alone } : {}),
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
    .sort((one, other) => (one.name < other.name ? -1 : 1));

async function queryVersion(cri: Cri, options: { signal: AbortSignal; timeoutMs: number }) {
  const { runtimeName, runtimeVersion } = await cri.version({ version: '' }, options);
  return { name: runtimeName, version: runtimeVersion };
}

type Unmet = Pick<RuntimeCondition, 'type' | 'reason' | 'message'>;

/** Returns the kubelet's message, which also appears in pod events. */
const notReadyMessage = (what: string, { type, reason, message }: Unmet): string =>
  `${what} not ready: ${type}=false reason:${reason} message:${message}`;

const describeUnmet = ({ type, reason, message }: Unmet): string =>
  `${type} is false: ${[reason, message].filter(Boolean).join(': ')}`;
