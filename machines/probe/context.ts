/** Defines the context of a probe's actor and pure functions on it. The chart is in chart.ts. */

import type { Failure } from '../../base/failure.ts';
import { findContainerByName } from '../../kubernetes/api/pods/containers.ts';
import type { Probe } from '../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { EventMessage } from '../../kubernetes/events/recordedEvent.ts';
import type { ContainerRole, ProbeKind } from '../../kubernetes/status/view.ts';
import type { ProbeResult } from '../shared/ports.ts';

export interface ProbeInput {
  readonly pod: Pod;
  /** Name of the container. */
  readonly name: string;
  readonly role: ContainerRole;
  readonly kind: ProbeKind;
  /** The runtime's ID of the container. */
  readonly id: string;
  /** Start time of the container in milliseconds since the epoch. */
  readonly startedAt: number;
  readonly podIp: string | undefined;
  /** Whether the probe was passing before the agent restarted. */
  readonly passed: boolean;
  /**
   * Whether the run started before this agent did. In that case the first attempt comes after a random delay, so that
   * not all probes run at the same time.
   */
  readonly adopted: boolean;
}

export interface ProbeContext extends ProbeInput {
  readonly lastResult?: 'success' | 'failure';
  /** Number of consecutive attempts with the result `lastResult`. */
  readonly consecutiveCount: number;
  /** Due time of the next attempt, in milliseconds since the epoch. */
  readonly dueAt: number;
  readonly failure?: Failure;
}

const PROBE_FIELDS = { startup: 'startupProbe', liveness: 'livenessProbe', readiness: 'readinessProbe' } as const;

/** Returns the probe in the pod's spec. Undefined if the container has none of this kind. */
export function probeOf(pod: Pod, name: string, kind: ProbeKind): Probe | undefined {
  return findContainerByName(pod.spec, name)?.container[PROBE_FIELDS[kind]];
}

const specOfProbe = ({ pod, name, kind }: ProbeInput): Probe => probeOf(pod, name, kind) ?? {};

export const periodMs = (context: ProbeInput): number => (specOfProbe(context).periodSeconds || 10) * 1_000;

const initialDelayMs = (input: ProbeInput): number => (specOfProbe(input).initialDelaySeconds ?? 0) * 1_000;

export const initialProbeContext = (input: ProbeInput): ProbeContext => ({
  ...input,
  consecutiveCount: 0,
  dueAt: input.startedAt + initialDelayMs(input),
});

/**
 * Returns the maximum wait for the next attempt, in milliseconds. It matters only if the clock has been set back since
 * the container started.
 */
export const maxWaitMs = (context: ProbeContext): number => {
  const isFirstAttempt = context.lastResult === undefined && context.failure === undefined && !context.adopted;
  return isFirstAttempt ? initialDelayMs(context) : Math.max(initialDelayMs(context), periodMs(context));
};

/** Returns the result of an attempt. Undefined if the probe itself could not be run. */
const outcomeOf = ({ result }: ProbeResult): 'success' | 'failure' | undefined =>
  result === 'error' ? undefined : result === 'failure' ? 'failure' : 'success';

/** Returns the number of consecutive attempts with the same result, including the current attempt. */
const nextCount = ({ lastResult, consecutiveCount }: ProbeContext, outcome: 'success' | 'failure'): number =>
  outcome === lastResult ? consecutiveCount + 1 : 1;

/** Whether the current attempt has the given outcome and reaches the threshold for that outcome. */
export function reachesThreshold(
  context: ProbeContext,
  probeResult: ProbeResult,
  outcome: 'success' | 'failure',
): boolean {
  if (outcomeOf(probeResult) !== outcome) return false;
  const { successThreshold, failureThreshold } = specOfProbe(context);
  const threshold = outcome === 'success' ? successThreshold || 1 : failureThreshold || 3;
  return nextCount(context, outcome) >= threshold;
}

/**
 * Returns the number of consecutive failures and the failure threshold. Undefined if the last attempt has not failed.
 */
export const consecutiveFailures = (context: ProbeContext): { count: number; limit: number } | undefined =>
  context.lastResult === 'failure'
    ? { count: context.consecutiveCount, limit: specOfProbe(context).failureThreshold || 3 }
    : undefined;

/**
 * Records an attempt and schedules the next attempt, which starts one period after the start of the recorded attempt
 * but not before its end. An attempt that appears to end before its start indicates that the clock has been set back.
 */
export function afterAttempt(context: ProbeContext, probeResult: ProbeResult): Partial<ProbeContext> {
  const outcome = outcomeOf(probeResult);
  const { result, message, startedAt, at } = probeResult;
  return {
    dueAt: Math.max(at, Math.min(startedAt, at) + periodMs(context)),
    ...(outcome ? { lastResult: outcome, consecutiveCount: nextCount(context, outcome) } : {}),
    ...(result === 'failure' || result === 'error'
      ? { failure: { reason: 'Unhealthy', message: probeEvent(context, probeResult)?.message ?? message, at } }
      : {}),
  };
}

const PROBE_TITLES = { startup: 'Startup', liveness: 'Liveness', readiness: 'Readiness' } as const;

/** Returns the event for an attempt, in the kubelet's wording. */
export function probeEvent({ kind }: ProbeInput, { result, message }: ProbeResult): EventMessage | undefined {
  const title = PROBE_TITLES[kind];
  switch (result) {
    case 'success':
      return undefined;
    case 'warning':
      return { eventType: 'Warning', reason: 'ProbeWarning', message: `${title} probe warning: ${message}` };
    case 'failure':
      return { eventType: 'Warning', reason: 'Unhealthy', message: `${title} probe failed: ${message}` };
    case 'error': {
      const eventMessage = `${title} probe errored and resulted in unknown state: ${message}`;
      return { eventType: 'Warning', reason: 'Unhealthy', message: eventMessage };
    }
  }
}
