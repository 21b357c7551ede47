/** What a container's actor knows, and the plain steps that change it. The chart is in chart.ts. */

import { containerNamed } from '../../pod/api/containers.ts';
import { containerHash } from '../../pod/api/identity.ts';
import type { Container } from '../../pod/api/schema/container.ts';
import type { Pod } from '../../pod/api/schema/pod.ts';
import { involvedPod } from '../../pod/events/recordedEvent.ts';
import type { Failure } from '../../pod/failure.ts';
import { type BackOff, crashLoopBackOff } from '../../pod/lifecycle/backoff.ts';
import type { MadeContainer, ObservedContainer, ObservedSandbox } from '../../pod/lifecycle/observed.ts';
import { shouldRestart } from '../../pod/lifecycle/restart.ts';
import type { MountedVolumes } from '../../pod/mountedVolume.ts';
import type { ContainerSize } from '../../pod/resources/containerSize.ts';
import { keyOf, sameSize } from '../../pod/resources/resize.ts';
import { containerSize } from '../../pod/resources/resources.ts';
import type { ContainerRole, ProbeKind, TerminatedRun } from '../../pod/show/view.ts';
import type { ImageInput } from '../image/setup.ts';
import { type ProbeInput, probeOf } from '../probe/context.ts';
import type { ContainerEvent, ProbeFact } from '../shared/events.ts';
import type { WaitingReason } from '../shared/waitingReason.ts';
import { terminatedRun } from './terminatedRun.ts';

export interface ContainerInput {
  readonly pod: Pod;
  readonly name: string;
  readonly role: ContainerRole;
  readonly ticket: number;
  readonly crashLoop: BackOff;
  /** Host paths by volume name, of those that are mounted; of an image its reference. */
  readonly volumes: MountedVolumes;
  /** The pod's sandbox if it has one already. */
  readonly sandbox: ObservedSandbox | undefined;
  /** The size that it has at the runtime, where that is not the one of its spec. */
  readonly size?: ContainerSize | undefined;
  /** What the runtime already has of it, the newest first. */
  readonly observed: readonly ObservedContainer[];
  /** What its probes had come to before the agent restarted. */
  readonly probed?: Probed | undefined;
}

/** What the probes of a container's run had come to: kept over a restart of the agent (C29). */
export interface Probed {
  /** The container at the runtime. */
  readonly id: string;
  readonly started: boolean;
  readonly ready: boolean;
}

export interface ContainerContext extends Omit<ContainerInput, 'sandbox' | 'size' | 'observed' | 'probed'> {
  readonly sandbox?: ObservedSandbox | undefined;
  /** The sandbox that its pod has lost, null when nothing lives in that any more; absent until one is lost. */
  readonly former?: ObservedSandbox | null | undefined;
  /** Its pod has told it to start in the present sandbox; a new sandbox needs a new word. */
  readonly hasTurn: boolean;
  /** The attempt that is, or will next be, created: also the restart count. */
  readonly attempt: number;
  readonly imageRef?: string | undefined;
  /** What the runtime made of it last. */
  readonly made?: MadeContainer | undefined;
  /** The container of the present attempt at the runtime. */
  readonly id?: string | undefined;
  readonly startedAt?: number | undefined;
  /** The run that has passed its startup probe, or had none to pass: the container's id at the runtime. */
  readonly startedUp?: string | undefined;
  /** The run that had begun before this agent, and what its probes had come to. */
  readonly adopted?: Probed | undefined;
  /** The identity (C6) of the container under `id`. */
  readonly madeFrom?: string | undefined;
  /** The size of the container under `id`. */
  readonly size?: ContainerSize | undefined;
  /** The last run that ended, and the one before it. */
  readonly run?: TerminatedRun | undefined;
  readonly earlierRun?: TerminatedRun | undefined;
  /** What an end of the process leads to: the restart rules decide unless somebody asked for more, or a probe for it. */
  readonly onEnd: 'byPolicy' | 'asFailed' | 'recreate' | 'reset' | 'stay';
  /** What the probe said that wants the present run to end. */
  readonly condemnedFor?: string | undefined;
  /** Others stop before it, so that its process is left alone meanwhile (C11). */
  readonly awaitsOthers: boolean;
  /** The runtime is to keep nothing of it once it has stopped: its pod goes on without it. */
  readonly leavesNothing: boolean;
  /** Until when a stop may take, in milliseconds since the epoch; absent: the pod's own grace from its beginning. */
  readonly stopBy?: number | undefined;
  /** The last wait before a restart; absent before the first one, which is immediate. */
  readonly crashDelayMs?: number | undefined;
  /** The wait after the last failure to get its image, in milliseconds. */
  readonly imageDelayMs: number;
  /** When the present wait for another attempt is over; 0 when it was not known at its beginning. */
  readonly retryAt: number;
  readonly failure?: Failure | undefined;
  /** Why it does not come to run, as a status shows it. */
  readonly waitingReason?: WaitingReason | undefined;
}

export function initialContext(input: ContainerInput): ContainerContext {
  const { observed, probed, ...rest } = input;
  const [newest, previous] = observed;
  const adopted = newest && (probed?.id === newest.id ? probed : { id: newest.id, started: false, ready: false });
  return {
    ...rest,
    adopted,
    startedUp: adopted?.started ? adopted.id : undefined,
    hasTurn: false,
    attempt: newest?.attempt ?? 0,
    id: newest?.id,
    madeFrom: newest?.hash || undefined,
    imageRef: newest?.imageRef,
    size: newest && (input.size ?? sizeOf(input)),
    earlierRun: previous && terminatedRun(previous),
    onEnd: 'byPolicy',
    awaitsOthers: false,
    leavesNothing: false,
    imageDelayMs: 0,
    retryAt: 0,
  };
}

/** The size that the spec asks for. */
export const sizeOf = (context: { readonly pod: Pod; readonly name: string }): ContainerSize =>
  containerSize(context.pod.spec, specOf(context));

/** Whether the container at the runtime has another size than its spec asks for. */
export const isMissized = (context: ContainerContext): boolean =>
  context.role !== 'init' && context.size !== undefined && !sameSize(context.size, sizeOf(context));

const imageOf = (context: ContainerContext): string => specOf(context).image ?? '';

/** What its image is looked for and pulled with. */
export const imageInput = (context: ContainerContext): ImageInput => ({
  pod: context.pod,
  image: imageOf(context),
  policy: specOf(context).imagePullPolicy,
  involved: involvedPod(context.pod, context),
  heldUp: [involvedPod(context.pod, context)],
  key: slotKey(context, 'pull'),
  ticket: context.ticket,
  delayMs: context.imageDelayMs,
  waitingReason: context.waitingReason,
});

/** Under which a limiter knows what it asks for. */
export const slotKey = (context: ContainerContext, limiter: string): string =>
  `${context.pod.metadata.uid}/${context.name}/${limiter}`;

/** What a back-off is counted for: another image or other resources reset it (C7). */
export const backOffKey = (context: { readonly pod: Pod; readonly name: string }): string =>
  `${identityOf(context)} ${keyOf(specOf(context).resources ?? {})}`;

/** The container's part of its pod's spec. */
export function specOf(context: { readonly pod: Pod; readonly name: string }): Container {
  const found = containerNamed(context.pod.spec, context.name);
  if (found === undefined) throw new Error(`pod ${context.pod.metadata.name} has no container ${context.name}`);
  return found.container;
}

/** Whether the restart rules want it to run again (C5). */
export const wantsRestart = (context: ContainerContext): boolean =>
  context.onEnd === 'recreate' ||
  (context.run !== undefined &&
    shouldRestart({
      pod: context.pod,
      container: specOf(context),
      role: context.role,
      run: context.onEnd === 'asFailed' ? asFailed(context.run) : context.run,
      podEnding: context.onEnd === 'stay',
    }));

/** A run that a probe has ended has failed, however well it took its end. */
const asFailed = (run: TerminatedRun): TerminatedRun => (run.exitCode === 0 ? { ...run, exitCode: 137 } : run);

/** Whether the present run has still to pass its startup probe. */
export const mustStartUp = (context: ContainerContext): boolean =>
  context.startedUp !== context.id && probeOf(context.pod, context.name, 'startup') !== undefined;

type Condemnation = Extract<ProbeFact, { type: 'probe.failed' }>;

/** The end of a run that its probe has asked for: when, and by when (the probe's own grace, or the pod's). */
export function condemned(context: ContainerContext, { kind, at, said }: Condemnation): Partial<ContainerContext> {
  const own = probeOf(context.pod, context.name, kind)?.terminationGracePeriodSeconds;
  const graceSeconds = own ?? context.pod.spec.terminationGracePeriodSeconds ?? 30;
  return { onEnd: 'asFailed', stopBy: at + graceSeconds * 1_000, condemnedFor: said };
}

/** A probe of the present run, if the spec has one of this kind. */
export function probeInput(context: ContainerContext, kind: ProbeKind): ProbeInput | undefined {
  const { pod, name, role, id = '', startedAt = 0, sandbox, adopted } = context;
  if (probeOf(pod, name, kind) === undefined) return undefined;
  const isAdopted = adopted?.id === id;
  const passed = isAdopted && adopted.ready && kind === 'readiness';
  return { pod, name, role, kind, id, startedAt, podIp: sandbox?.ips?.[0], passed, adopted: isAdopted };
}

/** The wait before the next run, from the end of the last one (C7); another container begins without one. */
export function crashBackoff(context: ContainerContext): { crashDelayMs: number | undefined; retryAt: number } {
  const finishedAt = context.run?.finishedAt;
  if (context.onEnd === 'recreate') return { crashDelayMs: undefined, retryAt: 0 };
  const crashDelayMs = crashLoopBackOff({
    ...(context.crashDelayMs === undefined ? {} : { previousDelayMs: context.crashDelayMs }),
    ...(context.run?.startedAt === undefined ? {} : { startedAt: context.run.startedAt }),
    finishedAt: finishedAt ?? 0,
    ...context.crashLoop,
  });
  // When nobody knows the end, the wait begins where it is seen.
  return { crashDelayMs, retryAt: finishedAt === undefined ? 0 : finishedAt + crashDelayMs };
}

/** Makes room for the next attempt; the run that just ended is kept for the status. */
export const nextAttempt = (context: ContainerContext): Partial<ContainerContext> => ({
  attempt: context.id === undefined ? context.attempt : context.attempt + 1,
  id: undefined,
  madeFrom: undefined,
  startedAt: undefined,
  condemnedFor: undefined,
  run: undefined,
  earlierRun: context.run ?? context.earlierRun,
  onEnd: 'byPolicy',
});

/** What a hook of the container is run with; `deadline` is when it must have ended, in milliseconds since the epoch. */
export const hookRequest = (
  { pod, name, id = '', sandbox, former }: ContainerContext,
  hook: 'postStart' | 'preStop',
  deadline: number | undefined,
) => ({
  ...{ pod, container: name, id, hook, podIp: (sandbox ?? former)?.ips?.[0], deadline },
  graceSeconds: pod.spec.terminationGracePeriodSeconds ?? 30,
});

/** What a command to stop changes: it is for good, its deadline only moves nearer (C10), its turn once come stays (C11). */
export const stopRequest = (
  context: ContainerContext,
  { deadline, waits = false, leavesNothing = false }: StopCommand,
): Partial<ContainerContext> => ({
  onEnd: 'stay',
  stopBy: sooner(context.stopBy, deadline),
  awaitsOthers: waits && (context.onEnd !== 'stay' || context.awaitsOthers),
  leavesNothing: context.leavesNothing || leavesNothing,
});

type StopCommand = Extract<ContainerEvent, { type: 'container.stop' }>;

/** The nearer of two deadlines; there may be none. */
export const sooner = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined ? other : Math.min(one, other ?? Infinity);

/** The containers that it knows of itself; older dead ones the node collects. */
export const remains = ({ id, run, earlierRun }: ContainerContext): string[] => {
  const known = [id, run?.containerId, earlierRun?.containerId];
  return [...new Set(known.flatMap((each) => (each ? [each] : [])))];
};

/** Whether the container at the runtime is not the one that the spec now asks for (C6). */
export const isOutdated = (context: ContainerContext): boolean =>
  context.madeFrom !== undefined && context.madeFrom !== identityOf(context);

/** The identity of the container that the spec asks for (C6). */
export function identityOf(context: { readonly pod: Pod; readonly name: string }): string {
  const { name, image = '' } = specOf(context);
  return containerHash({ name, image });
}
