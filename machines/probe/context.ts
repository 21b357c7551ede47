/** What a probe's actor knows, and the plain steps that change it. The chart is in chart.ts. */

import type { Failure } from '../../base/failure.ts';
import { containerNamed } from '../../kubernetes/api/containers.ts';
import type { Probe } from '../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { EventMessage } from '../../kubernetes/events/recordedEvent.ts';
import type { ContainerRole, ProbeKind } from '../../kubernetes/status/view.ts';
import type { ProbeAnswer } from '../shared/ports.ts';

export interface ProbeInput {
  readonly pod: Pod;
  /** The container's name and role. */
  readonly name: string;
  readonly role: ContainerRole;
  readonly kind: ProbeKind;
  /** The run of the container that it is of: the container at the runtime, and when it started. */
  readonly id: string;
  readonly startedAt: number;
  readonly podIp: string | undefined;
  /** Whether it was passing when the agent stopped, of a run that had begun before. */
  readonly passed: boolean;
  /** Whether the run had begun before the agent: then its first try comes after a random delay, so that not all come at once. */
  readonly adopted: boolean;
}

export interface ProbeContext extends ProbeInput {
  /** What the last try came to, and how many in a row did. */
  readonly last?: 'success' | 'failure';
  readonly inARow: number;
  /** When the next attempt is due, in milliseconds since the epoch. */
  readonly dueAt: number;
  readonly failure?: Failure;
}

const FIELDS = { startup: 'startupProbe', liveness: 'livenessProbe', readiness: 'readinessProbe' } as const;

/** A probe of a container as its pod's spec has it. */
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

/** Further away no try is, unless the clock was set back since the start that the runtime tells of. */
export const longestWaitMs = (context: ProbeContext): number => {
  const isFirst = context.last === undefined && context.failure === undefined && !context.adopted;
  return isFirst ? initialDelayMs(context) : Math.max(initialDelayMs(context), periodMs(context));
};

/** What a try says of the container; nothing when the tool has failed. */
const verdictOf = ({ result }: ProbeAnswer): 'success' | 'failure' | undefined =>
  result === 'error' ? undefined : result === 'failure' ? 'failure' : 'success';

/** How many tries in a row, with this one, have come to the same. */
const countWith = ({ last, inARow }: ProbeContext, verdict: 'success' | 'failure'): number =>
  verdict === last ? inARow + 1 : 1;

/** Whether this try makes up the number that the verdict takes. */
export function isEnough(context: ProbeContext, answer: ProbeAnswer, wanted: 'success' | 'failure'): boolean {
  if (verdictOf(answer) !== wanted) return false;
  const { successThreshold, failureThreshold } = specOfProbe(context);
  const threshold = wanted === 'success' ? successThreshold || 1 : failureThreshold || 3;
  return countWith(context, wanted) >= threshold;
}

/** How many of its tries in a row have failed, and how many it takes; undefined while the last has not. */
export const failuresOf = (context: ProbeContext): { count: number; limit: number } | undefined =>
  context.last === 'failure' ? { count: context.inARow, limit: specOfProbe(context).failureThreshold || 3 } : undefined;

/**
 * What is known after a try, and when the next one is due: a period after the beginning of this one, or at once. One that
 * seems to have ended before it began has ended on a clock that was set back.
 */
export function afterAnswer(context: ProbeContext, answer: ProbeAnswer): Partial<ProbeContext> {
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

/** What a try is worth telling the pod's author, in the kubelet's words. */
export function eventOf({ kind }: ProbeInput, { result, message }: ProbeAnswer): EventMessage | undefined {
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
