/** Defines the context of a probe's actor and pure functions on it. The chart is in chart.ts. */

import type { Failure } from '../../base/failure.ts';
import { containerNamed } from '../../kubernetes/api/containers.ts';
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
  /** Whether the probe was passing when the previous agent stopped. */
  readonly passed: boolean;
  /**
   * Whether the run started before the agent. In that case the first attempt comes after a random delay, so that not
   * all probes run at the same time.
   */
  readonly adopted: boolean;
}

export interface ProbeContext extends ProbeInput {
  /** Result of the last attempt. */
  readonly last?: 'success' | 'failure';
  /** Number of consecutive attempts with the result `last`. */
  readonly inARow: number;
  /** When the next attempt is due, in milliseconds since the epoch. */
  readonly dueAt: number;
  readonly failure?: Failure;
}

const FIELDS = { startup: 'startupProbe', liveness: 'livenessProbe', readiness: 'readinessProbe' } as const;

/** Returns the probe in the pod's spec. Undefined if the container has none of this kind. */
export function probeOf(pod: Pod, name: string, kind: ProbeKind): Probe | undefined {
  return containerNamed(pod.spec, name)?.container[FIELDS[kind]];
}

const specOfProbe = ({ pod, name, kind }: ProbeInput): Probe => probeOf(pod, name, kind) ?? {};

export const periodMs = (context: ProbeInput): number => (specOfProbe(context).periodSeconds || 10) * 1_000;

const initialDelayMs = (input: ProbeInput): number => (specOfProbe(input).initialDelaySeconds ?? 0) * 1_000;

export const initialProbeContext = (input: ProbeInput): ProbeContext => ({
  ...input,
  inARow: 0,
  dueAt: input.startedAt + initialDelayMs(input),
});

/** Returns the upper limit of a wait in milliseconds, in case the clock was set back after the container's start. */
export const longestWaitMs = (context: ProbeContext): number => {
  const isFirst = context.last === undefined && context.failure === undefined && !context.adopted;
  return isFirst ? initialDelayMs(context) : Math.max(initialDelayMs(context), periodMs(context));
};

/** Returns the result of an attempt. Undefined if the probe itself could not be run. */
const verdictOf = ({ result }: ProbeResult): 'success' | 'failure' | undefined =>
  result === 'error' ? undefined : result === 'failure' ? 'failure' : 'success';

/** Returns the number of consecutive attempts with the same result, including this one. */
const countWith = ({ last, inARow }: ProbeContext, verdict: 'success' | 'failure'): number =>
  verdict === last ? inARow + 1 : 1;

/** Whether this attempt reaches the threshold. */
export function isEnough(context: ProbeContext, answer: ProbeResult, wanted: 'success' | 'failure'): boolean {
  if (verdictOf(answer) !== wanted) return false;
  const { successThreshold, failureThreshold } = specOfProbe(context);
  const threshold = wanted === 'success' ? successThreshold || 1 : failureThreshold || 3;
  return countWith(context, wanted) >= threshold;
}

/**
 * Returns the number of consecutive failures and the failure threshold. Undefined if the last attempt has not failed.
 */
export const failuresOf = (context: ProbeContext): { count: number; limit: number } | undefined =>
  context.last === 'failure' ? { count: context.inARow, limit: specOfProbe(context).failureThreshold || 3 } : undefined;

/**
 * Records an attempt and schedules the next one, one period after the start of this attempt but not before its end. An
 * attempt that appears to end before its start indicates that the clock was set back.
 */
export function afterAnswer(context: ProbeContext, answer: ProbeResult): Partial<ProbeContext> {
  const verdict = verdictOf(answer);
  const { result, message, beganAt, at } = answer;
  return {
    dueAt: Math.max(at, Math.min(beganAt, at) + periodMs(context)),
    ...(verdict ? { last: verdict, inARow: countWith(context, verdict) } : {}),
    ...(result === 'failure' || result === 'error'
      ? { failure: { reason: 'Unhealthy', message: eventOf(context, answer)?.message ?? message, at } }
      : {}),
  };
}

const TITLES = { startup: 'Startup', liveness: 'Liveness', readiness: 'Readiness' } as const;

/** Returns the event about an attempt, in the kubelet's wording. */
export function eventOf({ kind }: ProbeInput, { result, message }: ProbeResult): EventMessage | undefined {
  const title = TITLES[kind];
  switch (result) {
    case 'success':
      return undefined;
    case 'warning':
      return { eventType: 'Warning', reason: 'ProbeWarning', message: `${title} probe warning: ${message}` };
    case 'failure':
      return { eventType: 'Warning', reason: 'Unhealthy', message: `${title} probe failed: ${message}` };
    case 'error': {
      const words = `${title} probe errored and resulted in unknown state: ${message}`;
      return { eventType: 'Warning', reason: 'Unhealthy', message: words };
    }
  }
}
