/** Asks the runtime how it is; tells when the answer changes. */
import type { Cri } from '../../cri/calls.ts';
import type { RuntimeHealth } from '../../machines/shared/events.ts';
import { messageOf } from '../../pod/failure.ts';
import type { Alarm } from '../alarm.ts';
import type { Clock } from '../clock.ts';

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
  while (!signal.aborted) {
    const health = { ...(await askHealth(cri, signal, reported)), since: clock.now() };
    if (signal.aborted) return;
    if (reported === undefined || isOther(health, reported)) {
      tell(health);
      reported = health;
    }
    await alarm.wait(clock.now() + (health.ready ? ASK_MS : ASK_AWAY_MS));
  }
}

const isOther = (one: RuntimeHealth, other: RuntimeHealth): boolean =>
  one.ready !== other.ready || one.message !== other.message || one.networkNotReady !== other.networkNotReady;

async function askHealth(
  cri: Cri,
  signal: AbortSignal,
  told: RuntimeHealth | undefined,
): Promise<Omit<RuntimeHealth, 'since'>> {
  const options = { signal, timeoutMs: ANSWER_WITHIN_MS };
  try {
    const named = told?.name ? told : await askVersion(cri, options);
    const { status, features } = await cri.status({ verbose: false }, options);
    const unmet = (wanted: string) => status?.conditions.find(({ type, status: holds }) => !holds && type === wanted);
    // Without these nothing can be started; whatever else the runtime tells of itself (deprecations, …) is no outage.
    const [runtime, network] = [unmet('RuntimeReady'), unmet('NetworkReady')];
    const failing = runtime ?? network;
    const { name, version } = named;
    const strictGroups = features?.supplementalGroupsPolicy ?? false;
    const message = failing ? { message: wordsOf(failing) } : {};
    const alone = runtime ? {} : { lacksOnlyNetwork: true as const };
    const networkNotReady = network ? { networkNotReady: networkText(network), ...alone } : {};
    return { ready: failing === undefined, name, version, strictGroups, ...message, ...networkNotReady };
  } catch (error) {
    const message = messageOf(error);
    // As in a kubelet what was last known of its network holds: a pod that waits for one does not ask a runtime that is away.
    const { name = '', version = '', networkNotReady } = told ?? {};
    return { ready: false, name, version, message, ...(networkNotReady === undefined ? {} : { networkNotReady }) };
  }
}

async function askVersion(cri: Cri, options: { signal: AbortSignal; timeoutMs: number }) {
  const { runtimeName, runtimeVersion } = await cri.version({ version: '' }, options);
  return { name: runtimeName, version: runtimeVersion };
}

/** The kubelet's words for it, which a pod's events repeat. */
const networkText = ({ type, reason, message }: { type: string; reason: string; message: string }): string =>
  `container runtime network not ready: ${type}=false reason:${reason} message:${message}`;

const wordsOf = ({ type, reason, message }: { type: string; reason: string; message: string }): string =>
  `${type} is false: ${[reason, message].filter(Boolean).join(': ')}`;
