/** Measures the start of a node that is new in its cluster (`pkg/kubelet/util/node_startup_latency_tracker.go`). */
import type { PortOutcome } from '../../../actors/portOutcome.ts';
import { alpha, type Registry } from '../registry.ts';
import { processStartSeconds } from './processMetrics.ts';

interface StartupParts {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The boot time of the host, in seconds since the epoch. Undefined if unknown. */
  readonly bootedAt: () => number | undefined;
}

/** Creates the listener for port outcomes. As in a kubelet, all values stay 0 on a node that was registered before. */
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
  const startedAt = processStartSeconds();
  let attemptedAt: number | undefined;
  let registeredAt: number | undefined;
  let isReady = false;

  function registered(at: number, attemptedAt: number): void {
    registeredAt = at;
    const hostBootedAt = bootedAt();
    if (hostBootedAt !== undefined) preKubelet.set([], Math.max(0, startedAt - hostBootedAt));
    preRegistration.set([], Math.max(0, attemptedAt - startedAt));
    registration.set([], at - attemptedAt);
  }

  function ready(at: number, registeredAt: number): void {
    isReady = true;
    postRegistration.set([], at - registeredAt);
    const hostBootedAt = bootedAt();
    if (hostBootedAt !== undefined) total.set([], at - hostBootedAt);
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
