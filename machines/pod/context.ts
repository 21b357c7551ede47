/** What a pod's actor knows, and the plain questions that its chart asks of it. The chart is in chart.ts. */

import type { Refusal } from '../../pod/admission/refusal.ts';
import { containersOf } from '../../pod/api/containers.ts';
import type { Pod } from '../../pod/api/schema/pod.ts';
import type { PodCondition, PodStatus } from '../../pod/api/schema/status.ts';
import type { Failure } from '../../pod/failure.ts';
import type { BackOff } from '../../pod/lifecycle/backoff.ts';
import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../../pod/lifecycle/observed.ts';
import { shouldRestart } from '../../pod/lifecycle/restart.ts';
import { sandboxDecision } from '../../pod/lifecycle/sandboxDecision.ts';
import { lookUp } from '../../pod/lookUp.ts';
import type { MountedVolume, MountedVolumes } from '../../pod/mountedVolume.ts';
import type { Allocation } from '../../pod/resources/allocation.ts';
import type { ContainerSize } from '../../pod/resources/containerSize.ts';
import { withResources } from '../../pod/resources/resize.ts';
import type { Termination } from '../../pod/show/view.ts';
import type { Probed } from '../container/context.ts';
import type { ContainerLifecycle, NetworkNotReady, VolumeLifecycle } from '../shared/events.ts';
import { retryAfter } from '../shared/failure.ts';
import type { PortTypes } from '../shared/ports.ts';

export interface PodInput {
  readonly pod: Pod;
  /** What the runtime has of it: when the actor is born, then as it is told. */
  readonly observed: ObservedPod;
  /** When the node began with it, in milliseconds since the epoch. */
  readonly bornAt: number;
  /** The pod's number in the order of arrival: who came first goes first. */
  readonly ticket: number;
  readonly crashLoop: BackOff;
  /** Whether the node gives out its swap. */
  readonly limitedSwap?: boolean | undefined;
  /** Why the runtime has no network for pods, if that is so. */
  readonly networkNotReady?: NetworkNotReady;
  /** What was admitted for it before the agent restarted. */
  readonly allocation?: Allocation;
  /** What the probes of its containers had come to before the agent restarted. */
  readonly probed?: readonly Probed[];
  /** Set for a pod that must end from the start: no source wants it any more, or it had finished before. */
  readonly termination?: Termination;
  /** The terminal status that it had reached before the agent restarted: nothing of it may run again (C2). */
  readonly restored?: PodStatus;
}

export interface PodContext extends Omit<PodInput, 'pod' | 'networkNotReady' | 'termination'> {
  /** What the sources want. */
  readonly desired: Pod;
  /** What the node was asked to admit last: `desired`, but for resources that can not be changed. */
  readonly asked: Pod;
  /** What the node has admitted and the actors work for: differs from `desired` while an update is not admitted. */
  readonly allocated: Pod;
  /** Its conditions as its source has them, with those that others tell. */
  readonly conditions?: readonly PodCondition[] | undefined;
  /** What admission was told of it: the containers that were there, and the pod that they were of. */
  readonly actual: { readonly pod: Pod; readonly names: string };
  /** When it became active on the node, be it under an earlier agent, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** The moment that is counted down to, after which it may not be active any more. */
  readonly activeUntil?: number | undefined;
  readonly networkNotReady?: NetworkNotReady | undefined;
  readonly volumes: Readonly<Record<string, { lifecycle: VolumeLifecycle; mounted?: MountedVolume }>>;
  readonly containers: Readonly<Record<string, ContainerLifecycle>>;
  /** The ids of their containers at the runtime, as the containers' actors tell them. */
  readonly containerIds: Readonly<Record<string, string>>;
  /** The sizes that the containers at the runtime have, as their actors tell them. */
  readonly sizes: Readonly<Record<string, ContainerSize>>;
  /** The version of the pod that its cgroup has the limits of; absent when nobody knows. */
  readonly fitted?: Pod | undefined;
  readonly sandbox?: ObservedSandbox | undefined;
  /** The number of the sandbox that is, or will next be, run. */
  readonly attempt: number;
  /** Sandboxes that are lost and have still to be stopped. */
  readonly stale: readonly string[];
  /** The sandboxes that were stopped on the way back; absent before. */
  readonly stopped?: readonly string[];
  /** The init and ephemeral containers that have had their turn in the present sandbox. */
  readonly turnsGiven: readonly string[];
  /** Who is still to be launched in the present round, in this order (C9). */
  readonly round: readonly string[];
  /** All init containers have done their part for the present sandbox. */
  readonly initialized: boolean;
  /** The sidecars that were told that their turn to stop has come (C11). */
  readonly released: readonly string[];
  /** When the last container ended, in milliseconds since the epoch. */
  readonly endedAt: number;
  readonly termination?: Termination | undefined;
  readonly refused?: Refusal | undefined;
  /** Why the node does not take the update that the sources want. */
  readonly unadmitted?: Refusal | undefined;
  readonly failure?: Failure | undefined;
  readonly retryAt: number;
}

export function initialPodContext({ pod, ...input }: PodInput): PodContext {
  const resources = input.allocation?.resources;
  // A resize that was not admitted before the restart is not admitted by it.
  const allocated = resources ? withResources(pod, resources) : pod;
  return {
    desired: pod,
    conditions: pod.status?.conditions,
    asked: allocated,
    allocated,
    actual: { pod: allocated, names: '' },
    sizes: {},
    ...(input.allocation?.sizes ? {} : { fitted: allocated }),
    ...input,
    startedAt: input.observed.sandboxes.at(-1)?.createdAt ?? input.bornAt,
    volumes: {},
    containers: {},
    containerIds: {},
    attempt: input.observed.sandboxes[0]?.attempt ?? 0,
    stale: [],
    turnsGiven: [],
    round: [],
    initialized: false,
    released: [],
    endedAt: 0,
    retryAt: 0,
  };
}

/** No container has a process now, though some may start again. */
export const isQuiet = (context: PodContext): boolean =>
  Object.values(context.containers).every((lifecycle) => !['launching', 'live', 'running'].includes(lifecycle));

export const areVolumesUnmounted = ({ volumes }: PodContext): boolean =>
  Object.values(volumes).every(({ lifecycle }) => lifecycle === 'unmounted');

/** As far as the pod waits for them: an image that cannot be had holds up only the containers that mount it (C16). */
export const areVolumesSettled = ({ volumes }: PodContext): boolean =>
  Object.values(volumes).every(({ lifecycle }) => lifecycle === 'mounted' || lifecycle === 'delayed');

export const mountedVolumes = ({ volumes }: PodContext): MountedVolumes =>
  Object.fromEntries(Object.entries(volumes).flatMap(([name, { mounted }]) => (mounted ? [[name, mounted]] : [])));

/** Whether it may have a process. */
export const mayRun = ({ state }: ObservedContainer): boolean => state === 'running' || state === 'unknown';

/** What to do about the sandbox, from what the runtime shows when the actor is born (C8). */
export const decideSandbox = ({ allocated: pod, observed }: PodContext) =>
  sandboxDecision({ pod, observed, somethingToStart: hasSomethingToStart(pod, observed) });

/** Why the pod can not live in a sandbox of which the runtime has told all: its readiness, network mode, addresses (C8). */
function flawOf({ allocated: pod }: PodContext, sandbox: ObservedSandbox): string | undefined {
  const observed = { sandboxes: [sandbox], containers: [] };
  const decision = sandboxDecision({ pod, observed, somethingToStart: true });
  return typeof decision === 'object' ? decision.reason : undefined;
}

export const fits = (context: PodContext, sandbox: ObservedSandbox): boolean => flawOf(context, sandbox) === undefined;

/** What came of a sandbox that was made in vain: it counts as a failed try, and the next one waits like after any (C8). */
export const unfit = (
  context: PodContext,
  sandbox: PortTypes['runSandbox']['output'],
): Pick<PodContext, 'failure' | 'retryAt'> =>
  retryAfter({
    reason: 'FailedCreatePodSandBox',
    message: `the sandbox that was made is of no use: ${flawOf(context, sandbox)}`,
    at: sandbox.madeAt,
  });

/** Whether any container has yet to run, or would run again after its last end. A running one dies with its sandbox. */
function hasSomethingToStart(pod: Pod, observed: ObservedPod): boolean {
  return [...containersOf(pod.spec)].some(({ container, role }) => {
    const newest = observed.containers.find(({ name }) => name === container.name);
    if (newest === undefined) return role !== 'ephemeral';
    return shouldRestart({ pod, container, role, run: newest, podEnding: false });
  });
}

export const readySandboxes = ({ sandboxes }: ObservedPod): string[] =>
  sandboxes.flatMap(({ id, state }) => (state === 'ready' ? [id] : []));

/** The sandbox that the pod had is not ready any more, not even listed, without an address, or another is ready beside it (C8). */
export function doubtsSandbox(context: PodContext, observed: ObservedPod): boolean {
  const { sandbox } = context;
  if (sandbox === undefined) return false;
  return readySandboxes(observed).join() !== sandbox.id || observed.sandboxes.some((each) => isFlawed(context, each));
}

const isFlawed = (context: PodContext, shown: ObservedSandbox): boolean =>
  shown.id === context.sandbox?.id && !fits(context, shown);

/** By the runtime's own word the pod can go on in its sandbox. A list without it, being older, tells nothing of another. */
export function isStillSound(context: PodContext, sandbox: ObservedSandbox): boolean {
  const ready = readySandboxes(context.observed);
  return fits(context, sandbox) && (ready.length <= 1 || !ready.includes(sandbox.id));
}

/** The number of the sandbox after the latest one (C8). */
export const nextSandbox = ({ attempt, sandbox, observed }: PodContext): number => {
  const known = [...observed.sandboxes, ...(sandbox ? [sandbox] : [])].map((each) => each.attempt);
  return known.length === 0 ? attempt : Math.max(...known) + 1;
};

/** Every sandbox of the pod that may exist at the runtime. */
export const allSandboxes = ({ sandbox, stale, observed }: PodContext): string[] => [
  ...new Set([...(sandbox ? [sandbox.id] : []), ...stale, ...observed.sandboxes.map(({ id }) => id)]),
];

/** The runtime shows a sandbox that was not there when those of the ending pod were stopped. */
export const hasLateSandbox = ({ stopped, observed }: PodContext): boolean =>
  stopped !== undefined && observed.sandboxes.some(({ id }) => !stopped.includes(id));

/** The moment by which every container must have ended: all share one grace (C11). */
export const deadlineOf = ({ at, graceSeconds }: Termination): number => at + graceSeconds * 1_000;

/** Whether the pod stays as one that has ended until nobody wants it: it completed, or the node ended it for its own reasons. */
export const staysAfterwards = (termination: Termination | undefined): boolean =>
  termination?.reason === 'Completed' || termination?.stays === true;

/** A later command may end the pod sooner, never later (C10); it replaces a mere completion, and one that removes it wins. */
export function mergeTermination(present: Termination | undefined, next: Termination): Termination {
  if (present === undefined || present.reason === 'Completed') return next;
  const { stays = false, ...cause } = present;
  const nearer = deadlineOf(next) < deadlineOf(present) ? { at: next.at, graceSeconds: next.graceSeconds } : {};
  return { ...cause, ...nearer, ...(stays && next.stays ? { stays } : {}) };
}

/** What a pod's author reads of that end, in its status and as an event. */
export const DEADLINE_EXCEEDED = 'Pod was active on the node longer than the specified deadline';

/** The end of a pod that was active for longer than it may be, within its own grace. */
export const deadlineExceeded = ({ allocated, bornAt }: PodContext, at: number): Termination => ({
  reason: 'DeadlineExceeded',
  message: DEADLINE_EXCEEDED,
  graceSeconds: allocated.spec.terminationGracePeriodSeconds ?? 30,
  phase: 'Failed',
  // What had passed while no agent was there takes nothing of the grace.
  at: Math.max(at, bornAt),
  stays: true,
});

/** How long the end of a pod for the node's own reasons may take beside its grace: half of that again, and 10 s at least. */
const killLimitOf = ({ at, graceSeconds }: Termination): number =>
  at + Math.max(10, graceSeconds + Math.trunc(graceSeconds / 2)) * 1_000;

/** The moment after which the pod may not be active any more; of one that the node ends for its own reasons, not be there. */
export function activeUntil({ allocated, startedAt, termination }: PodContext): number | undefined {
  if (termination !== undefined) return termination.disruption === undefined ? undefined : killLimitOf(termination);
  const seconds = allocated.spec.activeDeadlineSeconds;
  return seconds === undefined ? undefined : startedAt + seconds * 1_000;
}

/** The observed pod with one container's newer facts in it. */
export function withContainer(observed: ObservedPod, container: ObservedContainer): ObservedPod {
  const known = observed.containers.find(({ id }) => id === container.id);
  // A status does not name the sandbox; the list did.
  const merged = { ...container, sandboxId: container.sandboxId || (known?.sandboxId ?? '') };
  const rest = observed.containers.filter(({ id }) => id !== container.id);
  return { ...observed, containers: [merged, ...rest].sort((a, b) => b.createdAt - a.createdAt) };
}

/** Containers that the runtime or their actors had told of, and that the runtime does not show any more. */
export function vanished({ observed, containerIds }: PodContext, shown: ObservedPod): { name: string; id: string }[] {
  const reported = Object.entries(containerIds).map(([name, id]) => ({ name, id }));
  const known = new Map([...observed.containers, ...reported].map(({ name, id }) => [id, { name, id }]));
  for (const { id } of shown.containers) known.delete(id);
  return [...known.values()];
}

/** Containers that an update took out while their pod goes on; one that is wanted again by now gets another actor. */
export const departed = ({ containers }: PodContext): string[] =>
  Object.keys(containers).filter((name) => lookUp(containers, name) === 'removed');

/** The spec has containers without an actor, and what their pod waits for is there. */
export const hasNewContainers = (context: PodContext): boolean =>
  areVolumesSettled(context) &&
  [...containersOf(context.allocated.spec)].some(({ container }) => !Object.hasOwn(context.containers, container.name));

/** A pod with a network of its own cannot have one now. */
export const lacksNetwork = ({ networkNotReady, allocated }: PodContext): boolean =>
  networkNotReady !== undefined && allocated.spec.hostNetwork !== true;

/** That it waits for the runtime's network, in the kubelet's words. */
export const networkFailure = ({ networkNotReady }: PodContext): Failure => ({
  reason: 'NetworkNotReady',
  message: `network is not ready: ${networkNotReady?.message}`,
  at: networkNotReady?.since ?? 0,
});
