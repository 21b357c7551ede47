/** Durations of the start of a node that is new in its cluster (`pkg/kubelet/util/node_startup_latency_tracker.go`). */
import type { PortOutcome } from '../../../actors/portOutcome.ts';
import { alpha, type Registry } from '../registry.ts';
import { processStart } from './processMetrics.ts';

interface StartupParts {
  /** In milliseconds since the epoch. */
  readonly now: () => number;
  /** When the host was booted, in seconds since the epoch. Undefined if it is unknown. */
  readonly bootedAt: () => number | undefined;
}

/** Returns the listener for answers of ports. As in a kubelet, all values stay 0 on a node that was registered before. */
export function nodeStartup(registry: Registry, { now, bootedAt }: StartupParts): (answer: PortOutcome) => void {
  const gauge = (name: string, help: string) => registry.gauge(alpha(`kubelet_node_startup_${name}`, help));
  const preKubelet = gauge('pre_kubelet_duration_seconds', 'Time from the boot of the host to the start of the agent.');
  const preRegistration = gauge(
    'pre_registration_duration_seconds',
    'Time from the start of the agent to its first attempt to register the node.',
  );
  const registration = gauge(
    'registration_duration_seconds',
    'Time from the first attempt to register the node to its registration.',
  );
  const postRegistration = gauge(
    'post_registration_duration_seconds',
    'Time from the registration of the node until it was ready.',
  );
  const total = gauge('duration_seconds', 'Time from the boot of the host until the node was ready.');
  const startedAt = processStart();
  let attemptedAt: number | undefined;
  let registeredAt: number | undefined;
  let isReady = false;

  function registered(at: number, began: number): void {
    registeredAt = at;
    const booted = bootedAt();
    if (booted !== undefined) preKubelet.set([], Math.max(0, startedAt - booted));
    preRegistration.set([], Math.max(0, began - startedAt));
    registration.set([], at - began);
  }

  function ready(at: number, since: number): void {
    isReady = true;
    postRegistration.set([], at - since);
    const booted = bootedAt();
    if (booted !== undefined) total.set([], at - booted);
  }

  return ({ port, output, ms }) => {
    if (port !== 'registerNode' && port !== 'putNodeStatus') return;
    const at = now() / 1_000;
    if (port === 'registerNode') {
      attemptedAt ??= at - ms / 1_000;
      if (registeredAt === undefined && output && 'isNew' in output && output.isNew) registered(at, attemptedAt);
    }
    if (registeredAt === undefined || isReady) return;
    if (output?.events.some(({ reason }) => reason === 'NodeReady')) ready(at, registeredAt);
  };
}
