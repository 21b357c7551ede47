/** What a container's actor knows, and the plain steps that change it. The chart is in chart.ts. */

import { containerNamed } from '../../kubernetes/api/containers.ts';
import { containerHash } from '../../kubernetes/api/identity.ts';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { BackOff } from '../../kubernetes/lifecycle/backoff.ts';
import type { CreatedContainer, ObservedContainer, ObservedSandbox } from '../../kubernetes/lifecycle/observed.ts';
import type { MountedVolumes } from '../../kubernetes/mountedVolume.ts';
import type { ContainerSize } from '../../kubernetes/resources/containerSize.ts';
import {
  resizeErrorOf as errorOfCondition,
  hasSameSize,
  needsRestart,
  resourceKey,
} from '../../kubernetes/resources/resize.ts';
import { containerSize } from '../../kubernetes/resources/resources.ts';
import type { ContainerRole, TerminatedRun } from '../../kubernetes/status/view.ts';
import type { AwaitedImage } from '../image/awaited.ts';
import type { ContainerEvent } from '../shared/events.ts';
import type { KnownContainer } from '../shared/ports.ts';
import { lostRun, terminatedRun } from './terminatedRun.ts';

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
  /** What the runtime already has of it, what runs first, then the newest. */
  readonly observed: readonly ObservedContainer[];
  /** How often it was restarted, counting the run to come, where only its logs tell: the runtime has lost its last run (C23). */
  readonly restarts?: number | undefined;
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

/** Its waiting reason is that of its image, or why it could not be started. */
export interface ContainerContext
  extends Omit<ContainerInput, 'sandbox' | 'size' | 'observed' | 'probed'>,
    AwaitedImage {
  readonly sandbox?: ObservedSandbox | undefined;
  /** The sandbox that its pod has lost, null when nothing lives in that any more; absent until one is lost. */
  readonly former?: ObservedSandbox | null | undefined;
  /** What the runtime has of it was made in an earlier sandbox of its pod. */
  readonly ranElsewhere?: boolean | undefined;
  /** Its pod has told it to start in the present sandbox; a new sandbox needs a new word. */
  readonly hasTurn: boolean;
  /** The attempt that is, or will next be, created: also the restart count. */
  readonly attempt: number;
  /** That number was shown already: with a start that was refused because the sandbox was going, or by an earlier agent. */
  readonly isCounted?: boolean | undefined;
  /** The container that an earlier agent made under that number and did not start: it is shown until the next is made. */
  readonly unstarted?: string | undefined;
  readonly imageRef?: string | undefined;
  /**
   * The runtime did not know its state when this agent first heard of it. As with a kubelet it is what is shown then, under
   * its number, and waits: nobody can say that it runs (`convertToAPIContainerStatuses` in pkg/kubelet/kubelet_pods.go).
   */
  readonly foundUnknown?: boolean | undefined;
  /** What the runtime made of it last. */
  readonly made?: CreatedContainer | undefined;
  /** The container of the present attempt at the runtime. */
  readonly id?: string | undefined;
  /** When that was made, in milliseconds since the epoch; absent before the runtime has told. */
  readonly createdAt?: number | undefined;
  readonly startedAt?: number | undefined;
  /** The run that has passed its startup probe, or had none to pass: the container's id at the runtime. */
  readonly startedUp?: string | undefined;
  /** The run that had begun before this agent, and what its probes had come to. */
  readonly adopted?: Probed | undefined;
  /** What the runtime had of it when its actor was created has run, be it that it runs still. */
  readonly ranBefore?: boolean | undefined;
  /** The identity (C6) of the container under `id`. */
  readonly madeFrom?: string | undefined;
  /** The size of the container under `id`. */
  readonly size?: ContainerSize | undefined;
  /** The error of the last attempt to give it a size, also under an earlier agent. Obsolete once the spec requests a different size. */
  readonly resizeError?: { readonly size: ContainerSize; readonly message: string } | undefined;
  /** The run of the present attempt, once it has ended; the last one before it, and the one before that. */
  readonly run?: TerminatedRun | undefined;
  readonly earlierRun?: TerminatedRun | undefined;
  readonly runBefore?: TerminatedRun | undefined;
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
  /** How many seconds it may take, whatever the clock is set to meanwhile; absent: the pod's own grace. */
  readonly stopWithin?: number | undefined;
  /** The node kills the present run in order to start the container again, as a kubelet does in one sync (C7). */
  readonly killedToRestart?: boolean | undefined;
  /**
   * The delay that the last start was counted with. Undefined if none was counted, so that the next start is immediate and
   * is counted with 0.
   */
  readonly crashDelayMs?: number | undefined;
  /** How much of that was over when the state began that waits for the rest. */
  readonly backedOffMs?: number | undefined;
  /** When the present wait for another attempt is over; 0 when it was not known at its beginning. */
  readonly retryAt: number;
}

export function initialContext(input: ContainerInput): ContainerContext {
  const { observed, probed, ...rest } = input;
  const { restarts = 0 } = input;
  const [newest, previous] = observed;
  const adopted = newest && (probed?.id === newest.id ? probed : { id: newest.id, started: false, ready: false });
  return {
    ...rest,
    adopted,
    startedUp: adopted?.started ? adopted.id : undefined,
    ranBefore: newest !== undefined && newest.state !== 'created',
    ranElsewhere: newest !== undefined && newest.sandboxId !== input.sandbox?.id,
    hasTurn: false,
    attempt: newest ? Math.max(newest.attempt, restarts - 1) : restarts,
    id: newest?.id,
    createdAt: newest?.createdAt,
    madeFrom: newest?.hash || undefined,
    imageRef: newest?.imageRef,
    size: newest && (input.size ?? unknownSize(input)),
    resizeError: reportedResizeError(input),
    earlierRun: previous ? readRun(previous) : newest ? undefined : lostRun(input),
    onEnd: 'byPolicy',
    awaitsOthers: false,
    leavesNothing: false,
    imageDelayMs: 0,
    retryAt: 0,
  };
}

/** Of an end that could not be read yet nothing is told: it is as soon as a later list shows how it was. */
const readRun = (shown: ObservedContainer): TerminatedRun | undefined =>
  shown.state === 'exited' && shown.exitCode === undefined ? undefined : terminatedRun(shown);

/** The container of the present attempt, as the runtime is asked about it. */
export const knownContainer = ({ pod, name, id = '', attempt, createdAt }: ContainerContext): KnownContainer => ({
  pod,
  container: name,
  id,
  attempt,
  ...(createdAt === undefined ? {} : { createdAt }),
});

/** The size that the spec asks for. */
export const sizeOf = (context: { readonly pod: Pod; readonly name: string }): ContainerSize =>
  containerSize(context.pod.spec, specOf(context));

const NO_SIZE: ContainerSize = { cpuRequest: 0, cpuLimit: 0, memoryLimit: 0, memoryRequest: 0 };

/**
 * Returns the size of a container of which no size was persisted. As in a kubelet, the runtime gets the size of the spec
 * once more, which changes nothing if the container has it (`computePodResizeAction` in
 * `pkg/kubelet/kuberuntime/kuberuntime_manager.go`). A kubelet also restarts a container whose resize policy requires it.
 * Here such a container counts as having its size.
 */
function unknownSize(input: ContainerInput): ContainerSize {
  const { spec } = input.pod;
  const container = specOf(input);
  return needsRestart(spec, container, NO_SIZE) ? containerSize(spec, container) : NO_SIZE;
}

/** Returns the error of a resize that an earlier agent reported, as the API server has it. */
function reportedResizeError(input: ContainerInput): ContainerContext['resizeError'] {
  const condition = input.pod.status?.conditions?.find(({ type }) => type === 'PodResizeInProgress');
  const message = condition && errorOfCondition(condition);
  return message === undefined ? undefined : { size: sizeOf(input), message };
}

/** Returns the error of the last attempt to give the container the size that its spec requests; undefined if it has that size. */
export const resizeErrorOf = (context: ContainerContext): string | undefined =>
  context.resizeError && isMissized(context) && hasSameSize(context.resizeError.size, sizeOf(context))
    ? context.resizeError.message
    : undefined;

/** Whether the container at the runtime has a different size than the one in its spec. */
export const isMissized = (context: ContainerContext): boolean =>
  context.size !== undefined && !hasSameSize(context.size, sizeOf(context));

/** Under which a limiter knows what it asks for. */
export const slotKey = (context: Pick<ContainerContext, 'pod' | 'name'>, limiter: string): string =>
  `${context.pod.metadata.uid}/${context.name}/${limiter}`;

/** What a back-off is counted for: another image or other resources reset it (C7). */
export const backOffKey = (context: { readonly pod: Pod; readonly name: string }): string =>
  `${identityOf(context)} ${resourceKey(specOf(context).resources ?? {})}`;

/** The container's part of its pod's spec. */
export function specOf(context: { readonly pod: Pod; readonly name: string }): Container {
  const found = containerNamed(context.pod.spec, context.name);
  if (found === undefined) throw new Error(`pod ${context.pod.metadata.name} has no container ${context.name}`);
  return found.container;
}

/** Makes room for the next attempt; the run that just ended is kept for the status, with what that tells beside it. */
export const nextAttempt = (context: ContainerContext): Partial<ContainerContext> => ({
  ...(context.id === undefined ? {} : { attempt: context.attempt + 1, isCounted: undefined, unstarted: undefined }),
  id: undefined,
  ranElsewhere: undefined,
  madeFrom: undefined,
  startedAt: undefined,
  foundUnknown: undefined,
  condemnedFor: undefined,
  killedToRestart: undefined,
  ...pastRuns(context),
  onEnd: 'byPolicy',
});

/** The run of the present attempt, if it has ended, is the last one before the next. */
export const pastRuns = ({ run, earlierRun, runBefore }: ContainerContext): Partial<ContainerContext> =>
  run ? { run: undefined, earlierRun: run, runBefore: earlierRun } : { run, earlierRun, runBefore };

/** What a hook of the container is run with; `deadline` is when it must have ended, in milliseconds since the epoch. */
export const hookRequest = (
  { pod, name, id = '', sandbox, former, stopWithin }: ContainerContext,
  hook: 'postStart' | 'preStop',
  deadline: number | undefined,
) => ({
  pod,
  container: name,
  id,
  hook,
  podIp: (sandbox ?? former)?.ips?.[0],
  deadline,
  graceSeconds: stopWithin ?? pod.spec.terminationGracePeriodSeconds ?? 30,
});

/** What a command to stop changes: it is for good, its deadline only moves nearer (C10), its turn once come stays (C11). */
export const stopRequest = (
  context: ContainerContext,
  { deadline, graceSeconds, waits = false, leavesNothing = false }: StopCommand,
): Partial<ContainerContext> => ({
  onEnd: 'stay',
  stopBy: sooner(context.stopBy, deadline),
  stopWithin: sooner(context.stopWithin, graceSeconds),
  awaitsOthers: waits && (context.onEnd !== 'stay' || context.awaitsOthers),
  leavesNothing: context.leavesNothing || leavesNothing,
});

type StopCommand = Extract<ContainerEvent, { type: 'container.stop' }>;

/** The nearer of two deadlines; there may be none. */
export const sooner = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined ? other : Math.min(one, other ?? Infinity);

/** How long its crash-loop back-off lasts at most from the beginning of the state that waits for it (C7). */
export const leftOfBackOff = ({ crashDelayMs = 0, backedOffMs = 0 }: ContainerContext): number =>
  Math.max(0, crashDelayMs - backedOffMs);

/** The identity of the container that the spec asks for (C6). */
export function identityOf(context: { readonly pod: Pod; readonly name: string }): string {
  const { name, image = '' } = specOf(context);
  return containerHash({ name, image });
}
