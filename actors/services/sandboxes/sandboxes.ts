/** Fills the ports of a pod's sandbox over the CRI. */

import { type Clock, steadyClock } from '../../../base/clock.ts';
import { messageOf, NodeFailure } from '../../../base/failure.ts';
import type { CallOptions, Cri } from '../../../cri/client/calls.ts';
import { observedSandboxStatus } from '../../../cri/client/observe.ts';
import { dnsWarnings } from '../../../cri/config/dns.ts';
import { sandboxConfig } from '../../../cri/config/sandboxConfig.ts';
import { type NodeDescription, withCurrentResolvConf } from '../../../cri/nodeDescription.ts';
import type { Cgroups } from '../../../host/cgroup/cgroups.ts';
import type { Layout } from '../../../host/pods/layout.ts';
import { requireLogDirectory } from '../../../host/pods/takePodDirectory.ts';
import type { UserNamespaces } from '../../../host/pods/userNamespaces.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { hasChangedId } from '../../../kubernetes/lifecycle/changedId.ts';
import { foreignSandboxReason, type ObservedSandbox } from '../../../kubernetes/lifecycle/observed.ts';
import { requireNoDevices } from '../../../kubernetes/resources/devices.ts';
import { waitOnce } from '../../alarm.ts';
import type { Services } from '../../boundary.ts';
import type { Ownership } from '../../store/ownership.ts';
import { type RestartRuntime, withHelp } from '../containers/lostTasks.ts';
import { isSafeToKill } from '../disk/ownCgroup.ts';
import { podSandboxes } from './podSandboxes.ts';
import { type FindRuntimeHandler, runtimeHandlerOf } from './runtimeClasses.ts';
import { requireUserNamespaces } from './runtimeFeatures.ts';

/** A sandbox that the runtime has shown. */
type KnownSandbox = Pick<ObservedSandbox, 'id' | 'podUid' | 'attempt' | 'createdAt'>;

/** A network plugin may take long, and what it began must be known to be undone. */
const RUN_TIMEOUT_MS = 240_000;

type SandboxServices = Pick<
  Services,
  'runSandbox' | 'inspectSandbox' | 'stopSandboxes' | 'removeSandboxes' | 'restartRuntime'
>;

interface SandboxParts {
  readonly cri: Cri;
  readonly node: () => NodeDescription;
  readonly users: UserNamespaces;
  readonly clock: Clock;
  readonly findHandler: FindRuntimeHandler;
  readonly ownership: Ownership;
  readonly layout: Layout;
  /** Absent where pods have no cgroups of their own, or no containers. */
  readonly cgroups?: Cgroups | undefined;
  /** Absent: the runtime is not the node's own. */
  readonly restartRuntime?: RestartRuntime | undefined;
}

export function sandboxServices(parts: SandboxParts): SandboxServices {
  const { cri, cgroups, restartRuntime } = parts;
  const remove = async (podSandboxId: string, options: CallOptions): Promise<void> => {
    await cri
      .removePodSandbox({ podSandboxId }, options)
      .catch(unlessGone)
      .catch((error) => {
        throw withHelp(error, restartRuntime !== undefined);
      });
  };
  return {
    runSandbox: async ({ pod, attempt }, { signal }) => {
      requireNoDevices(pod);
      const node = await resolving(parts.node());
      const id = await runSandbox(parts, node, { pod, attempt, signal });
      const sandbox = await inspect(parts, id, { signal });
      const warnings = dnsWarnings(pod, node);
      const madeAt = parts.clock.now();
      if (sandbox !== null) return { ...sandbox, madeAt, ...(warnings.length > 0 ? { warnings } : {}) };
      throw new NodeFailure('FailedPodSandBoxStatus', `the runtime does not know the sandbox ${id} that it just ran`);
    },
    inspectSandbox: async ({ id, sandbox }, options) => {
      const shown = await inspect(parts, id, options);
      if (shown === null && sandbox !== undefined) await requireNoOtherId(cri, { ...sandbox, id }, options);
      return shown;
    },
    stopSandboxes: async ({ pod, ids }, options) => {
      await Promise.all(ids.map((podSandboxId) => cri.stopPodSandbox({ podSandboxId }, options).catch(unlessGone)));
      if (await isSafeToKill(parts, { pod, ran: ids }, options)) await cgroups?.kill(pod, options.signal);
      return null;
    },
    removeSandboxes: async ({ ids }, options) => {
      await Promise.all(ids.map((id) => remove(id, options)));
      return null;
    },
    restartRuntime: async ({ why }) => {
      restartRuntime?.(why);
      return null;
    },
  };
}

/** For calls that must be idempotent: what is not there needs no stopping and no removing. */
export function unlessGone(error: unknown): void {
  if (!(error instanceof NodeFailure && error.reason === 'NotFound')) throw error;
}

/** Runs a sandbox; one of this pod and attempt that an earlier call made, its answer lost, is taken or cleared away. */
async function runSandbox(
  { cri, users, clock, findHandler, ownership, layout }: SandboxParts,
  node: NodeDescription,
  { pod, attempt, signal }: { pod: Pod; attempt: number; signal: AbortSignal },
): Promise<string> {
  await requireLogDirectory(layout, pod.metadata).catch((error: unknown) => {
    throw failedSandbox(error);
  });
  const runtimeHandler = await runtimeHandlerOf(pod.spec, findHandler);
  if (pod.spec.hostUsers === false) await requireUserNamespaces(cri, runtimeHandler, { signal });
  const own = pod.spec.hostUsers === false ? await users.rangeOf(pod.metadata.uid) : undefined;
  const config = sandboxConfig(pod, attempt, node, own);
  const run = async () =>
    (await cri.runPodSandbox({ config, runtimeHandler }, { signal, timeoutMs: RUN_TIMEOUT_MS })).podSandboxId;
  const take = async () => {
    const earlier = await findAttempt(cri, { podUid: pod.metadata.uid, attempt }, { signal });
    const other = ownership.otherMaker(earlier?.owner);
    if (other !== undefined) throw new NodeFailure('FailedCreatePodSandBox', foreignSandboxReason(other));
    if (earlier?.state === 'ready') return requireEmpty(cri, earlier.id, { signal });
    if (earlier === undefined) return undefined;
    await cri.stopPodSandbox({ podSandboxId: earlier.id }, { signal }).catch(unlessGone);
    await cri.removePodSandbox({ podSandboxId: earlier.id }, { signal }).catch(unlessGone);
    return undefined;
  };
  return despiteReservation(run, take, { clock, signal }).catch((error) => {
    throw failedSandbox(error);
  });
}

/** How long the name of something that was given up half-made may stay reserved: the runtime rolls it back meanwhile. */
const RESERVED_MS = 5_000;
const RESERVED_AGAIN_MS = 100;

/** Makes something under a name that may still be reserved by an earlier call: `take` gives what that call made, if any. */
export async function despiteReservation(
  make: () => Promise<string>,
  take: () => Promise<string | undefined>,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<string> {
  const { now } = steadyClock(clock);
  const end = now() + RESERVED_MS;
  for (;;) {
    try {
      return await make();
    } catch (error) {
      if (!isNameReserved(error) || signal.aborted || now() >= end) throw error;
    }
    const taken = await take();
    if (taken !== undefined) return taken;
    await waitOnce(clock.now() + RESERVED_AGAIN_MS, clock, signal);
  }
}

async function findAttempt(
  cri: Cri,
  { podUid, attempt }: Pick<ObservedSandbox, 'podUid' | 'attempt'>,
  options: CallOptions,
) {
  return (await podSandboxes(cri, podUid, options)).find((sandbox) => sandbox.attempt === attempt);
}

/** What is in a sandbox has to be known to be adopted with it: as on a kubelet, once a list has shown it. */
async function requireEmpty(cri: Cri, podSandboxId: string, options: CallOptions): Promise<string> {
  const filter = { id: '', state: undefined, podSandboxId, labelSelector: {} };
  const { containers } = await cri.listContainers({ filter }, options);
  if (containers.length === 0) return podSandboxId;
  throw new NodeFailure('FailedCreatePodSandBox', `sandbox ${podSandboxId} of the pod has containers already`);
}

async function inspect(
  { cri, node }: Pick<SandboxParts, 'cri' | 'node'>,
  podSandboxId: string,
  options: CallOptions,
): Promise<ObservedSandbox | null> {
  try {
    const { status } = await cri.podSandboxStatus({ podSandboxId, verbose: false }, options);
    return (status && observedSandboxStatus(status, node().hostIps)) ?? null;
  } catch (error) {
    unlessGone(error);
    return null;
  }
}

/** Only a list tells under which id the runtime has what is in it. */
async function requireNoOtherId(cri: Cri, known: KnownSandbox, options: CallOptions): Promise<void> {
  const other = await findAttempt(cri, known, options);
  if (other === undefined || !hasChangedId(known, other)) return;
  const message = `the runtime has sandbox ${known.id} under another id: ${other.id}`;
  throw new NodeFailure('FailedPodSandBoxStatus', message);
}

const isNameReserved = (error: unknown): boolean => error instanceof NodeFailure && error.reason === 'NameReserved';

/** A pod whose resolver nobody knows would run and find nobody: it waits with the reason instead (C20). */
async function resolving(node: NodeDescription): Promise<NodeDescription> {
  return withCurrentResolvConf(node).catch((cause: unknown) => {
    const message = `Failed to create pod sandbox: ${messageOf(cause)}`;
    throw new NodeFailure('FailedCreatePodSandBox', message, { cause });
  });
}

function failedSandbox(cause: unknown): unknown {
  if (!(cause instanceof NodeFailure) || cause.reason === 'RuntimeUnavailable') return cause;
  return new NodeFailure('FailedCreatePodSandBox', `Failed to create pod sandbox: ${cause.message}`, { cause });
}
