/**
 * Measures the startup latency of a node that is new to its cluster
 * (`pkg/kubelet/util/node_startup_latency_tracker.go`).
 */
import type { PortOutcome } from '../../../actors/portOutcome.ts';
import { alpha, type Registry } from '../registry.ts';
import { processStartSeconds } from './processMetrics.ts';

interface StartupParts {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The boot time of the host, in seconds since the epoch. Undefined if unknown. */
  readonly bootedAt: () => number | undefined;
}

/** Creates the listener for port outcomes. As in the kubelet, all values stay 0 if the node was already registered. */
export function registerStartupMetrics(
  registry: Registry,
  { now, bootedAt }: StartupParts,
): (answer: PortOutcome) => void {
  const createGauge = (name: string, help: string) => registry.gauge(alpha(`kubelet_node_startup_${name}`, help));
  const preKubeletGauge = createGauge(
    'pre_kubelet_duration_seconds',
    'Time from the boot of the host to the start of the agent.',
  );
  const preRegistrationGauge = createGauge(
    'pre_registration_duration_seconds',
    'Time from the start of the agent to its first attempt to register the node.',
  );
  const registrationGauge = createGauge(
    'registration_duration_seconds',
    'Time from the first attempt to register the node to its registration.',
  );
  const postRegistrationGauge = createGauge(
    'post_registration_duration_seconds',
    'Time from the registration of the node until it was ready.',
  );
  const totalGauge = createGauge('duration_seconds', 'Time from the boot of the host until the node was ready.');
  const startedAt = processStartSeconds();
  let firstAttemptAt: number | undefined;
  let registeredAt: number | undefined;
  let isReady = false;

  function recordRegistration(at: number, attemptedAt: number): void {
    registeredAt = at;
    const hostBootedAt = bootedAt();
    if (hostBootedAt !== undefined) preKubeletGauge.set([], Math.max(0, startedAt - hostBootedAt));
    preRegistrationGauge.set([], Math.max(0, attemptedAt - startedAt));
    registrationGauge.set([], at - attemptedAt);
  }

  function recordReady(at: number, registeredAt: number): void {
    isReady = true;
    postRegistrationGauge.set([], at - registeredAt);
    const hostBootedAt = bootedAt();
    if (hostBootedAt !== undefined) totalGauge.set([], at - hostBootedAt);
  }

  return ({ port, output, ms }) => {
    if (port !== 'registerNode' && port !== 'putNodeStatus') return;
    const at = now() / 1_000;
    if (port === 'registerNode') {
      firstAttemptAt ??= at - ms / 1_000;
      if (registeredAt === undefined && output && 'isNew' in output && output.isNew)
        recordRegistration(at, firstAttemptAt);
    }
    if (registeredAt === undefined || isReady) return;
    if (output?.events.some(({ reason }) => reason === 'NodeReady')) recordReady(at, registeredAt);
  };
}
