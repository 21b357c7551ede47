/** Implements the ports of a container over the CRI. */

import { type FailureReason, messageOf, NodeFailure } from '../../../base/failure.ts';
import { orderedPodIps } from '../../../base/ipAddress.ts';
import { type Clock, secondsLeft } from '../../../base/time/clock.ts';
import type { CallOptions, Cri } from '../../../cri/client/calls.ts';
import { runtimeMessage } from '../../../cri/client/failure.ts';
import { containerConfig } from '../../../cri/config/containerConfig.ts';
import { checkRunAsNonRoot, type ImageUser } from '../../../cri/config/imageUser.ts';
import { sandboxConfig } from '../../../cri/config/sandboxConfig.ts';
import { type NodeDescription, withCurrentResolvConf } from '../../../cri/nodeDescription.ts';
import type { FileSystem } from '../../../host/files/fileSystem.ts';
import { writeHostsFile } from '../../../host/pods/hostsFile.ts';
import type { Layout } from '../../../host/pods/layout.ts';
import { type LogLink, removeLogSymlink, writeLogSymlink } from '../../../host/pods/logLinks.ts';
import { createTerminationLog } from '../../../host/pods/podDirectory.ts';
import type { UserNamespaces } from '../../../host/pods/userNamespaces.ts';
import { containerHash } from '../../../kubernetes/api/pods/containerHash.ts';
import { findContainerByName } from '../../../kubernetes/api/pods/containers.ts';
import type { Container } from '../../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { mayHaveClaims } from '../../../kubernetes/claims/podClaims.ts';
import type { ObservedContainer } from '../../../kubernetes/lifecycle/observed.ts';
import { hasRunReason } from '../../../kubernetes/lifecycle/restart.ts';
import type { KnownContainer, PortTypes } from '../../../machines/shared/ports.ts';
import type { Mounter } from '../../../volume/mount/mounter.ts';
import type { PortServices } from '../../boundary.ts';
import type { ClaimManager } from '../../claims/claimManager.ts';
import type { ServiceVariables } from '../../cluster/services.ts';
import type { FindOomKill } from '../../feeds/oomWatcher.ts';
import { prepareMounts } from '../disk/prepareMounts.ts';
import { createImageUserFinder, type FindImageUser } from '../images/imageUserFinder.ts';
import type { FindRuntimeHandler } from '../sandboxes/runtimeClasses.ts';
import { requireImageVolumes, requireStopSignal } from '../sandboxes/runtimeFeatures.ts';
import { ignoreNotFound, retryWhileReserved } from '../sandboxes/sandboxes.ts';
import type { ContainerObjects } from './containerObjects.ts';
import { findNewId, listRuns, readKnownContainer } from './knownContainer.ts';
import { readContainer } from './readContainer.ts';

/** Minimum time between SIGTERM and SIGKILL, even if the grace period has already elapsed (C10). */
const MIN_GRACE_SECONDS = 2;
/** Time beyond the grace period after which a stop is considered hung. */
const STOP_TIMEOUT_MARGIN_MS = 120_000;

export interface ContainerServiceDependencies {
  readonly cri: Cri;
  readonly node: () => NodeDescription;
  readonly layout: Layout;
  readonly mounter: Mounter;
  readonly users: UserNamespaces;
  readonly clock: Clock;
  readonly findHandler: FindRuntimeHandler;
  readonly serviceVariables: ServiceVariables;
  readonly variableObjects: ContainerObjects;
  readonly claimManager: Pick<ClaimManager, 'cdiIds'>;
  readonly findOomKill?: FindOomKill | undefined;
  readonly onError: (source: string, error: unknown) => void;
}

type CreateInput = PortTypes['createContainer']['input'];

type ContainerServices = Pick<
  PortServices,
  'readObjects' | 'createContainer' | 'startContainer' | 'stopContainer' | 'removeContainers' | 'inspectContainer'
>;

export function containerServices(dependencies: ContainerServiceDependencies): ContainerServices {
  const { cri, layout, findOomKill, onError } = dependencies;
  const { files } = layout;
  const status = { cri, files, findOomKill };
  const findImageUser = createImageUserFinder(cri);
  return {
    readObjects: (input, options) => dependencies.variableObjects.readObjects(input, options),
    createContainer: async (input, { signal }) => ({
      id: await createFromSpec({ ...dependencies, findImageUser }, input, signal),
    }),
    startContainer: async (target, { signal }) => {
      const { pod, container } = target;
      const { id, refusal } = await startContainer({ cri, files }, target, { signal });
      const startResult = await readKnownContainer(status, { ...target, id }, { signal });
      if (startResult === null) throw new NodeFailure('RunContainerError', `container ${id} no longer exists`);
      if (refusal !== undefined) return { ...startResult, refusal };
      const logFile = `${layout.containerLogDir(pod.metadata, container)}/${startResult.attempt}.log`;
      // A failure to create the link is only reported, because the container is running and the link only matters to
      // log collectors.
      await linkLog(layout, { pod: pod.metadata, container, id: startResult.id }, { logFile, signal }).catch((error) =>
        onError('logLink', error),
      );
      return startResult;
    },
    stopContainer: (input, { signal }) => stopContainer(dependencies, input, signal),
    removeContainers: async ({ ids }, options) => {
      await Promise.all(ids.map((containerId) => cri.removeContainer({ containerId }, options).catch(ignoreNotFound)));
      return null;
    },
    inspectContainer: (target, options) => readKnownContainer(status, target, options),
  };
}

async function linkLog(
  layout: Layout,
  logLink: LogLink,
  { logFile, signal }: { readonly logFile: string; readonly signal: AbortSignal },
): Promise<void> {
  await writeLogSymlink(layout, logLink, logFile);
  // If the call hung, the pod and its logs may be gone by now, and nothing else would remove the link.
  if (signal.aborted && layout.files.lstatSync(logFile) === undefined) await removeLogSymlink(layout, logLink);
}

export function findContainer(pod: Pod, name: string): Container {
  const matchingContainer = findContainerByName(pod.spec, name);
  if (matchingContainer !== undefined) return matchingContainer.container;
  throw new NodeFailure('CreateContainerConfigError', `the pod has no container ${name}`);
}

async function createFromSpec(
  dependencies: ContainerServiceDependencies & { findImageUser: FindImageUser },
  input: CreateInput,
  signal: AbortSignal,
): Promise<string> {
  const { cri, node, layout, users, clock, findImageUser } = dependencies;
  const { pod, sandbox, attempt, imageRef, volumes } = input;
  const { uid } = pod.metadata;
  const container = findContainer(pod, input.container);
  const nodeFacts = node();
  const sandboxIps = orderedPodIps(sandbox.ips ?? [], nodeFacts.hostIps);
  // This call occupies a start slot, so run independent steps in parallel.
  const [user, now, target, terminationLog] = await Promise.all([
    findImageUserIfNeeded(findImageUser, { pod, container, imageRef }, { signal }),
    withCurrentResolvConf(nodeFacts).catch(rejectUnknownResolver),
    findTarget(cri, input, { signal }),
    createTerminationLog(layout, { uid, container: container.name, run: String(attempt) }),
    writeHostsFile({ pod, layout, ips: sandboxIps, clusterDomain: nodeFacts.clusterDomain, signal }),
    requireImageVolumes(cri, container, volumes, { signal }),
    requireStopSignal(cri, container, { signal }),
  ]);
  // Wait for a free turn, because computing an environment with thousands of variables takes milliseconds, and many
  // containers may reach this point at once.
  await clock.turns?.acquire();
  // Stop here if the sandbox was replaced. A later attempt to create this container may already have cached the objects
  // that it needs, and taking them would remove them from the cache.
  signal.throwIfAborted();
  const objects = dependencies.variableObjects.takeObjects(input);
  const userNamespace = pod.spec.hostUsers === false ? { userRange: await users.getRange(uid) } : {};
  const resolvedParts = { ...user, ...target, ...userNamespace, services: dependencies.serviceVariables(pod), objects };
  const baseInput = {
    pod,
    container,
    attempt,
    imageRef,
    volumes,
    sandboxIps,
    terminationLog,
    cdiDevices: claimedDevices(dependencies.claimManager, pod, container),
    node: nodeFacts,
    ...resolvedParts,
  };
  const configInput = { ...baseInput, ...(await prepareMounts(dependencies, baseInput, signal)) };
  // Wait again, because building the configuration takes about as long as computing the environment.
  await clock.turns?.acquire();
  signal.throwIfAborted();
  const request = {
    podSandboxId: sandbox.id,
    config: containerConfig(configInput),
    sandboxConfig: sandboxConfig(pod, sandbox.attempt, now, userNamespace.userRange),
  };
  const createNewContainer = async () => (await cri.createContainer(request, { signal })).containerId;
  const adoptExisting = () => adoptEarlierRun(cri, input, { container, signal });
  return retryWhileReserved(createNewContainer, adoptExisting, { clock, signal }).catch((error) => {
    throw toCreateFailure(error);
  });
}

/** Returns the CDI names of the devices that the container gets through claims. */
function claimedDevices(claimManager: Pick<ClaimManager, 'cdiIds'>, pod: Pod, container: Container): string[] {
  if (!mayHaveClaims(pod)) return [];
  try {
    return claimManager.cdiIds(pod, container);
  } catch (cause) {
    throw new NodeFailure('CreateContainerConfigError', messageOf(cause), { cause });
  }
}

/**
 * Adopts a running container from an earlier call whose response was lost, or from another agent. Removes any other
 * container of the attempt. A container that was created but not started may predate a resize or another change of the
 * pod. The kubelet also creates a new container in this case (ShouldContainerBeRestarted in
 * pkg/kubelet/container/helpers.go).
 */
async function adoptEarlierRun(
  cri: Cri,
  input: CreateInput,
  { container, signal }: { readonly container: Container; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const existingContainer = await findAttempt(cri, input, { signal });
  const hash = containerHash({ name: container.name, image: container.image ?? '' });
  const isExpectedContainer = existingContainer?.sandboxId === input.sandbox.id && existingContainer.hash === hash;
  if (isExpectedContainer && existingContainer.state === 'running') return existingContainer.id;
  if (existingContainer)
    await cri.removeContainer({ containerId: existingContainer.id }, { signal }).catch(ignoreNotFound);
  return undefined;
}

/**
 * Fails the creation of a container whose DNS configuration is unknown. As in the kubelet, the pod's sandbox
 * configuration, which includes DNS, is part of each request to create a container (C20).
 */
function rejectUnknownResolver(cause: unknown): never {
  throw new NodeFailure('CreateContainerConfigError', messageOf(cause), {
    cause,
  });
}

/**
 * Returns the image's user if the pod does not specify a user. Rejects if the container would run as root although
 * `runAsNonRoot` forbids it.
 */
async function findImageUserIfNeeded(
  findImageUser: FindImageUser,
  { pod, container, imageRef }: { pod: Pod; container: Container; imageRef: string },
  options: CallOptions,
): Promise<{ imageUser?: ImageUser }> {
  const securityContext = { ...pod.spec.securityContext, ...container.securityContext };
  if (
    !securityContext.runAsNonRoot &&
    (securityContext.runAsUser !== undefined || securityContext.runAsGroup === undefined)
  )
    return {};
  const user = await findImageUser(imageRef, options);
  const nonRootFailure = checkRunAsNonRoot(pod, container, user);
  if (nonRootFailure !== undefined) throw nonRootFailure;
  return { imageUser: user };
}

/** Returns the container whose processes an ephemeral container shares, i.e. the newest one with the target name. */
async function findTarget(
  cri: Cri,
  { pod, container }: CreateInput,
  options: CallOptions,
): Promise<{ targetId?: string }> {
  const name = pod.spec.ephemeralContainers?.find((each) => each.name === container)?.targetContainerName;
  if (!name) return {};
  const containerRuns = await listRuns(cri, pod, name, options);
  const [newest] = containerRuns.sort((a, b) => b.attempt - a.attempt || b.createdAt - a.createdAt);
  if (newest === undefined)
    throw new NodeFailure('CreateContainerConfigError', `unable to find target container ${name}`);
  return { targetId: newest.id };
}

async function findAttempt(cri: Cri, input: CreateInput, options: CallOptions): Promise<ObservedContainer | undefined> {
  return (await listRuns(cri, input.pod, input.container, options)).find(({ attempt }) => attempt === input.attempt);
}

/** Errors after which the container may be running or may still start. */
const INCONCLUSIVE_REASONS: ReadonlySet<FailureReason> = new Set(['RuntimeUnavailable', 'AlreadyStarting']);

const POSSIBLY_RUNNING_STATES: ReadonlySet<ObservedContainer['state']> = new Set(['running', 'unknown']);

/** The container's ID in the runtime and, if the start was refused, the reason. */
interface StartResult {
  readonly id: string;
  readonly refusal?: { readonly message: string };
}

/** Starts a container unless a call whose response was lost has already started it. */
async function startContainer(
  dependencies: { readonly cri: Cri; readonly files: FileSystem },
  knownContainer: KnownContainer,
  options: CallOptions,
): Promise<StartResult> {
  try {
    await dependencies.cri.startContainer({ containerId: knownContainer.id }, options);
    return { id: knownContainer.id };
  } catch (error) {
    if (error instanceof NodeFailure && INCONCLUSIVE_REASONS.has(error.reason)) throw error;
    const observedContainer = await readKnownContainer(dependencies, knownContainer, options);
    if (observedContainer?.state === 'created' && observedContainer.id !== knownContainer.id)
      return startContainer(dependencies, { ...knownContainer, id: observedContainer.id }, options);
    // The response of a successful call may have been lost. Therefore, the start counts as successful if the container
    // is running, may be running, or has exited for any reason except a failed start.
    if (observedContainer && POSSIBLY_RUNNING_STATES.has(observedContainer.state)) return { id: observedContainer.id };
    if (observedContainer?.state === 'exited' && !hasRunReason(observedContainer.reason, 'StartError'))
      return { id: observedContainer.id };
    const message = error instanceof NodeFailure ? runtimeMessage(error) : String(error);
    if (observedContainer?.state === 'exited') return { id: observedContainer.id, refusal: { message } };
    throw new NodeFailure(startFailureReason(observedContainer), message, { cause: error });
  }
}

/**
 * Returns the reason for a failed start of a container that has not exited. The reason is `NotFound` if the runtime
 * does not have the container.
 */
const startFailureReason = (observed: ObservedContainer | null): FailureReason =>
  observed === null ? 'NotFound' : 'RuntimeError';

/**
 * Stops the container under its known ID. If the runtime has the container under a changed ID, also stops it under that
 * ID within the remaining grace period.
 */
async function stopContainer(
  {
    cri,
    layout: { files },
    findOomKill,
    clock,
  }: Pick<ContainerServiceDependencies, 'cri' | 'layout' | 'findOomKill' | 'clock'>,
  { graceSeconds, deadline, ...target }: PortTypes['stopContainer']['input'],
  signal: AbortSignal,
): Promise<ObservedContainer | null> {
  const remainingSeconds = deadline === undefined ? graceSeconds : Math.ceil((deadline - clock.now()) / 1_000);
  // The grace period must not become longer if the wall clock was adjusted backwards after the deadline was computed
  // (C10).
  const timeoutSeconds = Math.max(MIN_GRACE_SECONDS, Math.min(graceSeconds, remainingSeconds));
  const startedAt = clock.monotonic();
  const stopById = async (id: string, stopTimeoutSeconds: number) => {
    const options = { signal, timeoutMs: stopTimeoutSeconds * 1_000 + STOP_TIMEOUT_MARGIN_MS };
    await cri.stopContainer({ containerId: id, timeout: BigInt(stopTimeoutSeconds) }, options).catch(ignoreNotFound);
    return readContainer({ cri, files, findOomKill }, { id }, { signal });
  };
  try {
    const stopResult = await stopById(target.id, timeoutSeconds);
    if (stopResult !== null) return stopResult;
    const changedId = await findNewId(cri, target, { signal });
    if (changedId === undefined) return null;
    return await stopById(changedId, Math.max(MIN_GRACE_SECONDS, secondsLeft(timeoutSeconds, startedAt, clock)));
  } catch (cause) {
    throw toStopFailure(cause, secondsLeft(timeoutSeconds, startedAt, clock));
  }
}

/** Adds the remaining grace period to the failure, because the clock may be adjusted before the retry. */
function toStopFailure(cause: unknown, graceSeconds: number): unknown {
  if (!(cause instanceof NodeFailure)) return cause;
  return new NodeFailure(cause.reason, cause.message, { cause, graceSeconds });
}

/** Failure reasons that mean that the runtime refused to create a container. */
const REFUSAL_REASONS: ReadonlySet<FailureReason> = new Set(['RuntimeError', 'NameReserved']);

function toCreateFailure(cause: unknown): unknown {
  if (!(cause instanceof NodeFailure)) return cause;
  // Preserve the reason if the image or sandbox is gone, because it can be pulled or created again.
  if (cause.reason === 'NotFound') return new NodeFailure('NotFound', runtimeMessage(cause), { cause });
  if (!REFUSAL_REASONS.has(cause.reason)) return cause;
  return new NodeFailure('CreateContainerError', runtimeMessage(cause), { cause });
}
