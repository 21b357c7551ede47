/** Implements the ports of a pod's sandbox over the CRI. */

import { messageOf, NodeFailure } from '../../../base/failure.ts';
import { type Clock, steadyClock } from '../../../base/time/clock.ts';
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
import { waitOnce } from '../../alarm.ts';
import type { PortServices } from '../../boundary.ts';
import type { Ownership } from '../../store/ownership.ts';
import { type RestartRuntime, withAdvice } from '../containers/lostTasks.ts';
import { isSafeToKill } from '../disk/ownCgroup.ts';
import { listPodSandboxes } from './listPodSandboxes.ts';
import { type FindRuntimeHandler, resolveRuntimeHandler } from './runtimeClasses.ts';
import { requireUserNamespaces } from './runtimeFeatures.ts';

type KnownSandbox = Pick<ObservedSandbox, 'id' | 'podUid' | 'attempt' | 'createdAt'>;

/**
 * Timeout for creating a sandbox. It is long, because network plugins may be slow and we need the ID of the created
 * sandbox in order to remove it.
 */
const RUN_TIMEOUT_MS = 240_000;

type SandboxServices = Pick<
  PortServices,
  'runSandbox' | 'inspectSandbox' | 'stopSandboxes' | 'removeSandboxes' | 'restartRuntime'
>;

interface SandboxServiceDependencies {
  readonly cri: Cri;
  readonly node: () => NodeDescription;
  readonly users: UserNamespaces;
  readonly clock: Clock;
  readonly findHandler: FindRuntimeHandler;
  readonly ownership: Ownership;
  readonly layout: Layout;
  /** Undefined if the agent does not manage pod cgroups, e.g. with a simulated runtime. */
  readonly cgroups?: Cgroups | undefined;
  /** Undefined if the runtime is not private to this node. */
  readonly restartRuntime?: RestartRuntime | undefined;
}

export function sandboxServices(dependencies: SandboxServiceDependencies): SandboxServices {
  const { cri, cgroups, restartRuntime } = dependencies;
  const remove = async (podSandboxId: string, options: CallOptions): Promise<void> => {
    await cri
      .removePodSandbox({ podSandboxId }, options)
      .catch(ignoreNotFound)
      .catch((error) => {
        throw withAdvice(error, restartRuntime !== undefined);
      });
  };
  return {
    runSandbox: async ({ pod, attempt }, { signal }) => {
      const node = await withResolver(dependencies.node());
      const id = await runSandbox(dependencies, node, { pod, attempt, signal });
      const sandbox = await readSandbox(dependencies, id, { signal });
      const warnings = dnsWarnings(pod, node);
      const createdAt = dependencies.clock.now();
      if (sandbox !== null) return { ...sandbox, madeAt: createdAt, ...(warnings.length > 0 ? { warnings } : {}) };
      throw new NodeFailure('FailedPodSandBoxStatus', `the runtime does not know the sandbox ${id} that it just ran`);
    },
    inspectSandbox: async ({ id, sandbox }, options) => {
      const observedSandbox = await readSandbox(dependencies, id, options);
      if (observedSandbox === null && sandbox !== undefined) await requireUnchangedId(cri, { ...sandbox, id }, options);
      return observedSandbox;
    },
    stopSandboxes: async ({ pod, ids }, options) => {
      await Promise.all(ids.map((podSandboxId) => cri.stopPodSandbox({ podSandboxId }, options).catch(ignoreNotFound)));
      if (await isSafeToKill(dependencies, { pod, ran: ids }, options)) await cgroups?.kill(pod, options.signal);
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

/** Rethrows any error except NotFound, because stops and removals must be idempotent. */
export function ignoreNotFound(error: unknown): void {
  if (!(error instanceof NodeFailure && error.reason === 'NotFound')) throw error;
}

/**
 * Runs a sandbox. Adopts or removes a sandbox of the same pod and attempt from an earlier call whose response was lost.
 */
async function runSandbox(
  { cri, users, clock, findHandler, ownership, layout }: SandboxServiceDependencies,
  node: NodeDescription,
  { pod, attempt, signal }: { pod: Pod; attempt: number; signal: AbortSignal },
): Promise<string> {
  await requireLogDirectory(layout, pod.metadata).catch((error: unknown) => {
    throw toSandboxFailure(error);
  });
  const runtimeHandler = await resolveRuntimeHandler(pod.spec, findHandler);
  if (pod.spec.hostUsers === false) await requireUserNamespaces(cri, runtimeHandler, { signal });
  const userRange = pod.spec.hostUsers === false ? await users.getRange(pod.metadata.uid) : undefined;
  const config = sandboxConfig(pod, attempt, node, userRange);
  const run = async () =>
    (await cri.runPodSandbox({ config, runtimeHandler }, { signal, timeoutMs: RUN_TIMEOUT_MS })).podSandboxId;
  const adoptExisting = async () => {
    const existingSandbox = await findAttempt(cri, { podUid: pod.metadata.uid, attempt }, { signal });
    const foreignOwner = ownership.foreignMark(existingSandbox?.owner);
    if (foreignOwner !== undefined) throw new NodeFailure('FailedCreatePodSandBox', foreignSandboxReason(foreignOwner));
    if (existingSandbox?.state === 'ready') return requireEmpty(cri, existingSandbox.id, { signal });
    if (existingSandbox === undefined) return undefined;
    await cri.stopPodSandbox({ podSandboxId: existingSandbox.id }, { signal }).catch(ignoreNotFound);
    await cri.removePodSandbox({ podSandboxId: existingSandbox.id }, { signal }).catch(ignoreNotFound);
    return undefined;
  };
  return retryWhileReserved(run, adoptExisting, { clock, signal }).catch((error) => {
    throw toSandboxFailure(error);
  });
}

/** Maximum time for which the runtime may reserve the name of an object while it rolls back an abandoned call. */
const RESERVATION_TIMEOUT_MS = 5_000;
const RESERVATION_RETRY_MS = 100;

/**
 * Creates an object whose name may still be reserved by an earlier call. `adoptExisting` returns the ID of that call's
 * object, if any.
 */
export async function retryWhileReserved(
  create: () => Promise<string>,
  adoptExisting: () => Promise<string | undefined>,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<string> {
  const { now } = steadyClock(clock);
  const deadline = now() + RESERVATION_TIMEOUT_MS;
  for (;;) {
    try {
      return await create();
    } catch (error) {
      if (!isNameReserved(error) || signal.aborted || now() >= deadline) throw error;
    }
    const adoptedId = await adoptExisting();
    if (adoptedId !== undefined) return adoptedId;
    await waitOnce(clock.now() + RESERVATION_RETRY_MS, clock, signal);
  }
}

async function findAttempt(
  cri: Cri,
  { podUid, attempt }: Pick<ObservedSandbox, 'podUid' | 'attempt'>,
  options: CallOptions,
) {
  return (await listPodSandboxes(cri, podUid, options)).find((sandbox) => sandbox.attempt === attempt);
}

/** Rejects a sandbox with containers. Like the kubelet, the node adopts containers only once a list contains them. */
async function requireEmpty(cri: Cri, podSandboxId: string, options: CallOptions): Promise<string> {
  const filter = { id: '', state: undefined, podSandboxId, labelSelector: {} };
  const { containers } = await cri.listContainers({ filter }, options);
  if (containers.length === 0) return podSandboxId;
  throw new NodeFailure('FailedCreatePodSandBox', `sandbox ${podSandboxId} of the pod has containers already`);
}

async function readSandbox(
  { cri, node }: Pick<SandboxServiceDependencies, 'cri' | 'node'>,
  podSandboxId: string,
  options: CallOptions,
): Promise<ObservedSandbox | null> {
  try {
    const { status } = await cri.podSandboxStatus({ podSandboxId, verbose: false }, options);
    return (status && observedSandboxStatus(status, node().hostIps)) ?? null;
  } catch (error) {
    ignoreNotFound(error);
    return null;
  }
}

/**
 * Fails if the runtime has the sandbox under a changed ID, because only a relist reveals the new IDs of the sandbox's
 * containers.
 */
async function requireUnchangedId(cri: Cri, target: KnownSandbox, options: CallOptions): Promise<void> {
  const newId = await findAttempt(cri, target, options);
  if (newId === undefined || !hasChangedId(target, newId)) return;
  const message = `the runtime has sandbox ${target.id} under another id: ${newId.id}`;
  throw new NodeFailure('FailedPodSandBoxStatus', message);
}

const isNameReserved = (error: unknown): boolean => error instanceof NodeFailure && error.reason === 'NameReserved';

/**
 * Reads the resolver configuration. If it cannot be read, the pod waits with a reason, because it would otherwise have
 * no DNS (C20).
 */
async function withResolver(node: NodeDescription): Promise<NodeDescription> {
  return withCurrentResolvConf(node).catch((cause: unknown) => {
    const message = `Failed to create pod sandbox: ${messageOf(cause)}`;
    throw new NodeFailure('FailedCreatePodSandBox', message, { cause });
  });
}

function toSandboxFailure(cause: unknown): unknown {
  if (!(cause instanceof NodeFailure) || cause.reason === 'RuntimeUnavailable') return cause;
  return new NodeFailure('FailedCreatePodSandBox', `Failed to create pod sandbox: ${cause.message}`, { cause });
}
