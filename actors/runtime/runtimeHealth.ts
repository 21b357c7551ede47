/** Asks the runtime how it is; tells when the answer changes. */

import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/failure.ts';
import { sameValue } from '../../base/sameValue.ts';
import type { Cri } from '../../cri/client/calls.ts';
import type { RuntimeCondition, StatusResponse } from '../../cri/generated/runtime.ts';
import type { RuntimeHandler } from '../../kubernetes/node/runtimeReport.ts';
import type { RuntimeHealth } from '../../machines/shared/events.ts';
import type { Alarm } from '../alarm.ts';

const ASK_MS = 5_000;
/** While it is away it is asked more often, so that its return is noticed at once. */
const ASK_AWAY_MS = 500;
const ANSWER_WITHIN_MS = 5_000;

export interface RuntimeHealthOptions {
  readonly cri: Cri;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Rung to ask at once; it rings by itself when the signal aborts. */
  readonly alarm: Alarm;
  readonly tell: (health: RuntimeHealth) => void;
}

/** Asks every 5 s, when the alarm rings, and every 0.5 s while the runtime is not ready, until the signal aborts. */
export async function watchRuntimeHealth({ cri, clock, signal, alarm, tell }: RuntimeHealthOptions): Promise<void> {
  let reported: RuntimeHealth | undefined;
  let seenAt: number | undefined;
  while (!signal.aborted) {
    const answer = await askHealth(cri, signal, reported);
    const since = clock.now();
    if (signal.aborted) return;
    if (answer.ready || answer.lacksOnlyNetwork) seenAt = since;
    else if (seenAt !== undefined) answer.seenAt = seenAt;
    const health: RuntimeHealth = { ...answer, since };
    if (reported === undefined || isOther(health, reported)) {
      tell(health);
      reported = health;
    }
    await alarm.wait(clock.now() + (health.ready ? ASK_MS : ASK_AWAY_MS));
  }
}

const isOther = ({ since: _then, ...one }: RuntimeHealth, { since: _now, ...other }: RuntimeHealth): boolean =>
  !sameValue(one, other);

type Answer = { -readonly [K in keyof Omit<RuntimeHealth, 'since'>]: RuntimeHealth[K] };

async function askHealth(cri: Cri, signal: AbortSignal, told: RuntimeHealth | undefined): Promise<Answer> {
  const options = { signal, timeoutMs: ANSWER_WITHIN_MS };
  try {
    const named = told?.name && !told.isSilent ? told : await askVersion(cri, options);
    return { name: named.name, version: named.version, ...answerOf(await cri.status({ verbose: false }, options)) };
  } catch (error) {
    // As in a kubelet what was last known of it holds: a pod that waits for a network does not ask a runtime that is away.
    const { since, ready, seenAt, lacksOnlyNetwork, strictGroups, ...known } = told ?? NOTHING_KNOWN;
    return { ...known, ready: false, message: messageOf(error), isSilent: true };
  }
}

const NOTHING_KNOWN: RuntimeHealth = { since: 0, ready: false, name: '', version: '' };

function answerOf({ status, features, runtimeHandlers }: StatusResponse): Omit<Answer, 'name' | 'version'> {
  const unmet = (wanted: string) => status?.conditions.find(({ type, status: holds }) => !holds && type === wanted);
  // Without these nothing can be started; whatever else the runtime tells of itself (deprecations, …) is no outage.
  const [runtime, network] = [unmet('RuntimeReady'), unmet('NetworkReady')];
  const failing = runtime ?? network;
  const alone = runtime ? {} : { lacksOnlyNetwork: true as const };
  return {
    ready: failing === undefined,
    strictGroups: features?.supplementalGroupsPolicy ?? false,
    ...(failing ? { message: wordsOf(failing) } : {}),
    ...(runtime ? { notReady: notReadyText('container runtime', runtime) } : {}),
    ...(network ? { networkNotReady: notReadyText('container runtime network', network), ...alone } : {}),
    handlers: handlersOf(runtimeHandlers),
    ...(features ? { features: { supplementalGroupsPolicy: features.supplementalGroupsPolicy } } : {}),
  };
}

const handlersOf = (handlers: StatusResponse['runtimeHandlers']): RuntimeHandler[] =>
  handlers
    .map(({ name, features }) => ({
      name,
      features: {
        recursiveReadOnlyMounts: features?.recursiveReadOnlyMounts ?? false,
        userNamespaces: features?.userNamespaces ?? false,
      },
    }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));

async function askVersion(cri: Cri, options: { signal: AbortSignal; timeoutMs: number }) {
  const { runtimeName, runtimeVersion } = await cri.version({ version: '' }, options);
  return { name: runtimeName, version: runtimeVersion };
}

type Unmet = Pick<RuntimeCondition, 'type' | 'reason' | 'message'>;

/** The kubelet's words for it, which a pod's events repeat. */
const notReadyText = (what: string, { type, reason, message }: Unmet): string =>
  `${what} not ready: ${type}=false reason:${reason} message:${message}`;

const wordsOf = ({ type, reason, message }: Unmet): string =>
  `${type} is false: ${[reason, message].filter(Boolean).join(': ')}`;
