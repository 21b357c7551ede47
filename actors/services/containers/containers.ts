/** Fills the ports of a container over the CRI. */

import { type Clock, secondsLeft } from '../../../base/clock.ts';
import { type FailureReason, messageOf, NodeFailure } from '../../../base/failure.ts';
import { orderedPodIps } from '../../../base/ipAddress.ts';
import type { CallOptions, Cri } from '../../../cri/client/calls.ts';
import { runtimeMessage } from '../../../cri/client/failure.ts';
import { containerConfig } from '../../../cri/config/containerConfig.ts';
import { type ImageUser, runAsNonRootFailure } from '../../../cri/config/imageUser.ts';
import { sandboxConfig } from '../../../cri/config/sandboxConfig.ts';
import { type NodeDescription, withCurrentResolvConf } from '../../../cri/nodeDescription.ts';
import type { FileSystem } from '../../../host/files/fileSystem.ts';
import { writeHostsFile } from '../../../host/pods/hostsFile.ts';
import type { Layout } from '../../../host/pods/layout.ts';
import { type LogLink, removeLogSymlink, writeLogSymlink } from '../../../host/pods/logLinks.ts';
import { createTerminationLog } from '../../../host/pods/podDirectory.ts';
import type { UserNamespaces } from '../../../host/pods/userNamespaces.ts';
import { containersOf } from '../../../kubernetes/api/containers.ts';
import { containerHash } from '../../../kubernetes/api/identity.ts';
import type { Container } from '../../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { ObservedContainer } from '../../../kubernetes/lifecycle/observed.ts';
import { hasRunReason } from '../../../kubernetes/lifecycle/restart.ts';
import type { KnownContainer, PortTypes } from '../../../machines/shared/ports.ts';
import type { Mounter } from '../../../volume/mount/mounter.ts';
import type { Services } from '../../boundary.ts';
import type { ServiceVariables } from '../../cluster/services.ts';
import { prepareMounts } from '../disk/mounts.ts';
import { type FindImageUser, imageUsers } from '../images/imageUsers.ts';
import type { FindRuntimeHandler } from '../sandboxes/runtimeClasses.ts';
import { requireImageVolumes, requireStopSignal } from '../sandboxes/runtimeFeatures.ts';
import { despiteReservation, unlessGone } from '../sandboxes/sandboxes.ts';
import type { ContainerObjects } from './containerObjects.ts';
import { readContainer } from './containerStatus.ts';
import { otherIdOf, readKnown, runsOf } from './knownContainer.ts';

/** Whatever is left of the grace, the process gets at least so long after SIGTERM (C10). */
const LEAST_GRACE_SECONDS = 2;
/** How much longer than its grace a stop may take before the runtime is thought to hang. */
const STOP_SLACK_MS = 120_000;

export interface ContainerParts {
  readonly cri: Cri;
  readonly node: () => NodeDescription;
  readonly layout: Layout;
  readonly mounter: Mounter;
  readonly users: UserNamespaces;
  readonly clock: Clock;
  readonly findHandler: FindRuntimeHandler;
  readonly serviceVariables: ServiceVariables;
  readonly variableObjects: ContainerObjects;
  readonly onError: (source: string, error: unknown) => void;
}

type CreateInput = PortTypes['createContainer']['input'];

type ContainerServices = Pick<
  Services,
  'readObjects' | 'createContainer' | 'startContainer' | 'stopContainer' | 'removeContainers' | 'inspectContainer'
>;

export function containerServices(parts: ContainerParts): ContainerServices {
  const { cri, layout, onError } = parts;
  const { files } = layout;
  const imageUserOf = imageUsers(cri);
  return {
    readObjects: (asked, options) => parts.variableObjects.read(asked, options),
    createContainer: async (input, { signal }) => ({ id: await create({ ...parts, imageUserOf }, input, signal) }),
    startContainer: async (known, { signal }) => {
      const { pod, container } = known;
      const { id, refusal } = await start({ cri, files }, known, { signal });
      const started = await readKnown({ cri, files }, { ...known, id }, { signal });
      if (started === null) throw new NodeFailure('RunContainerError', `container ${id} no longer exists`);
      if (refusal !== undefined) return { ...started, refusal };
      const logFile = `${layout.containerLogDir(pod.metadata, container)}/${started.attempt}.log`;
      // The container runs, and its log is there: without the link only collectors of logs do not find it.
      await linkLog(layout, { pod: pod.metadata, container, id: started.id }, { logFile, signal }).catch((error) =>
        onError('logLink', error),
      );
      return started;
    },
    stopContainer: (asked, { signal }) => stop(parts, asked, signal),
    removeContainers: async ({ ids }, options) => {
      await Promise.all(ids.map((containerId) => cri.removeContainer({ containerId }, options).catch(unlessGone)));
      return null;
    },
    inspectContainer: (known, options) => readKnown({ cri, files }, known, options),
  };
}

async function linkLog(
  layout: Layout,
  link: LogLink,
  { logFile, signal }: { readonly logFile: string; readonly signal: AbortSignal },
): Promise<void> {
  await writeLogSymlink(layout, link, logFile);
  // Where that hung, the pod may be gone by now, and its logs with it: nobody else would remove the link.
  if (signal.aborted && layout.files.lstatSync(logFile) === undefined) await removeLogSymlink(layout, link);
}

export function containerNamed(pod: Pod, name: string): Container {
  const found = containersOf(pod.spec).find(({ container }) => container.name === name);
  if (found !== undefined) return found.container;
  throw new NodeFailure('CreateContainerConfigError', `the pod has no container ${name}`);
}

async function create(
  parts: ContainerParts & { imageUserOf: FindImageUser },
  input: CreateInput,
  signal: AbortSignal,
): Promise<string> {
  const { cri, node, layout, users, clock, imageUserOf } = parts;
  const { pod, sandbox, attempt, imageRef, volumes } = input;
  const { uid } = pod.metadata;
  const container = containerNamed(pod, input.container);
  const facts = node();
  const sandboxIps = orderedPodIps(sandbox.ips ?? [], facts.hostIps);
  // The call holds a start slot, so independent steps run in parallel.
  const [user, now, target, terminationLog] = await Promise.all([
    userOf(imageUserOf, { pod, container, imageRef }, { signal }),
    withCurrentResolvConf(facts).catch(unknownResolver),
    targetOf(cri, input, { signal }),
    createTerminationLog(layout, { uid, container: container.name, run: String(attempt) }),
    writeHostsFile({ pod, layout, ips: sandboxIps, clusterDomain: facts.clusterDomain, signal }),
    requireImageVolumes(cri, container, volumes, { signal }),
    requireStopSignal(cri, container, { signal }),
  ]);
  // With thousands of variables the configuration takes milliseconds, and many containers can get here at once.
  const turn = clock.turns?.next();
  if (turn !== undefined) await turn;
  const own = pod.spec.hostUsers === false ? { users: await users.rangeOf(uid) } : {};
  const objects = parts.variableObjects.take(input);
  const found = { ...user, ...target, ...own, services: parts.serviceVariables(pod), objects };
  const given = { pod, container, attempt, imageRef, volumes, sandboxIps, terminationLog, node: facts, ...found };
  const wanted = { ...given, ...(await prepareMounts(parts, given, signal)) };
  const request = {
    podSandboxId: sandbox.id,
    config: containerConfig(wanted),
    sandboxConfig: sandboxConfig(pod, sandbox.attempt, now, own.users),
  };
  const make = async () => (await cri.createContainer(request, { signal })).containerId;
  const take = () => takeEarlier(cri, input, { container, signal });
  return despiteReservation(make, take, { clock, signal }).catch((error) => {
    throw failedCreate(error);
  });
}

/**
 * Made by a call whose answer was lost, or by another agent: taken if it runs here, else cleared away. What was only
 * created may be of before a resize or another change of its pod; a kubelet makes another then, too
 * (ShouldContainerBeRestarted in pkg/kubelet/container/helpers.go).
 */
async function takeEarlier(
  cri: Cri,
  input: CreateInput,
  { container, signal }: { readonly container: Container; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const earlier = await findAttempt(cri, input, { signal });
  const hash = containerHash({ name: container.name, image: container.image ?? '' });
  const isWanted = earlier?.sandboxId === input.sandbox.id && earlier.hash === hash;
  if (isWanted && earlier.state === 'running') return earlier.id;
  if (earlier) await cri.removeContainer({ containerId: earlier.id }, { signal }).catch(unlessGone);
  return undefined;
}

/** As on a kubelet, which tells the runtime of the whole pod again with each container (C20). */
function unknownResolver(cause: unknown): never {
  throw new NodeFailure('CreateContainerConfigError', messageOf(cause), {
    cause,
  });
}

/** Whom the image runs as, asked for only where the pod leaves it open; rejects when that may not be root (runAsNonRoot). */
async function userOf(
  imageUserOf: FindImageUser,
  { pod, container, imageRef }: { pod: Pod; container: Container; imageRef: string },
  options: CallOptions,
): Promise<{ imageUser?: ImageUser }> {
  const context = { ...pod.spec.securityContext, ...container.securityContext };
  if (!context.runAsNonRoot && (context.runAsUser !== undefined || context.runAsGroup === undefined)) return {};
  const user = await imageUserOf(imageRef, options);
  const refusal = runAsNonRootFailure(pod, container, user);
  if (refusal !== undefined) throw refusal;
  return { imageUser: user };
}

/** The container whose processes an ephemeral one shares: the newest of the name that it gives. */
async function targetOf(
  cri: Cri,
  { pod, container }: CreateInput,
  options: CallOptions,
): Promise<{ targetId?: string }> {
  const name = pod.spec.ephemeralContainers?.find((each) => each.name === container)?.targetContainerName;
  if (!name) return {};
  const all = await runsOf(cri, pod, name, options);
  const [newest] = all.sort((a, b) => b.attempt - a.attempt || b.createdAt - a.createdAt);
  if (newest === undefined)
    throw new NodeFailure('CreateContainerConfigError', `unable to find target container ${name}`);
  return { targetId: newest.id };
}

async function findAttempt(cri: Cri, input: CreateInput, options: CallOptions): Promise<ObservedContainer | undefined> {
  return (await runsOf(cri, input.pod, input.container, options)).find(({ attempt }) => attempt === input.attempt);
}

/** What is no word against the start of a container: it may run, or be about to. */
const NOT_REFUSED: ReadonlySet<FailureReason> = new Set(['RuntimeUnavailable', 'AlreadyStarting']);

const MAY_RUN: ReadonlySet<ObservedContainer['state']> = new Set(['running', 'unknown']);

/** The id under which the runtime has the container and, if it refused to start it, why. */
interface Start {
  readonly id: string;
  readonly refusal?: { readonly message: string };
}

/** Starts a container that is only created. A container that a call started whose answer was lost is left as it is. */
async function start(
  parts: { readonly cri: Cri; readonly files: FileSystem },
  known: KnownContainer,
  options: CallOptions,
): Promise<Start> {
  try {
    await parts.cri.startContainer({ containerId: known.id }, options);
    return { id: known.id };
  } catch (error) {
    if (error instanceof NodeFailure && NOT_REFUSED.has(error.reason)) throw error;
    const shown = await readKnown(parts, known, options);
    if (shown?.state === 'created' && shown.id !== known.id) return start(parts, { ...known, id: shown.id }, options);
    // The answer of a call that worked was lost; a start that failed shows as an end with its own reason. One in a
    // state that the runtime does not know may run.
    if (shown && MAY_RUN.has(shown.state)) return { id: shown.id };
    if (shown?.state === 'exited' && !hasRunReason(shown.reason, 'StartError')) return { id: shown.id };
    const message = error instanceof NodeFailure ? runtimeMessage(error) : String(error);
    if (shown?.state === 'exited') return { id: shown.id, refusal: { message } };
    throw new NodeFailure(refusalOf(shown), message, { cause: error });
  }
}

/** The reason of a failed start. A container that is still created has not ended, because the call never arrived. */
const refusalOf = (shown: ObservedContainer | null): FailureReason => (shown === null ? 'NotFound' : 'RuntimeError');

/** Under the id that is known and, where the runtime has it under another, under that within what is left. */
async function stop(
  { cri, layout: { files }, clock }: Pick<ContainerParts, 'cri' | 'layout' | 'clock'>,
  { graceSeconds, deadline, ...known }: PortTypes['stopContainer']['input'],
  signal: AbortSignal,
): Promise<ObservedContainer | null> {
  const left = deadline === undefined ? graceSeconds : Math.ceil((deadline - clock.now()) / 1_000);
  // The clock may have been set back since the deadline was: the grace is none the longer for that (C10).
  const seconds = Math.max(LEAST_GRACE_SECONDS, Math.min(graceSeconds, left));
  const beganAt = clock.monotonic();
  const stopWithin = async (id: string, within: number) => {
    const options = { signal, timeoutMs: within * 1_000 + STOP_SLACK_MS };
    await cri.stopContainer({ containerId: id, timeout: BigInt(within) }, options).catch(unlessGone);
    return readContainer({ cri, files }, { id }, { signal });
  };
  try {
    const stopped = await stopWithin(known.id, seconds);
    if (stopped !== null) return stopped;
    const other = await otherIdOf(cri, known, { signal });
    if (other === undefined) return null;
    return await stopWithin(other, Math.max(LEAST_GRACE_SECONDS, secondsLeft(seconds, beganAt, clock)));
  } catch (cause) {
    throw failedStop(cause, secondsLeft(seconds, beganAt, clock));
  }
}

/** Until it is tried again the clock may be set: what is left of the grace that it gave is known only here. */
function failedStop(cause: unknown, graceSeconds: number): unknown {
  if (!(cause instanceof NodeFailure)) return cause;
  return new NodeFailure(cause.reason, cause.message, { cause, graceSeconds });
}

/** What the runtime says when it does not make a container. */
const REFUSALS: ReadonlySet<FailureReason> = new Set(['RuntimeError', 'NameReserved']);

function failedCreate(cause: unknown): unknown {
  if (!(cause instanceof NodeFailure)) return cause;
  // What it was to be made from is gone, which may be had again.
  if (cause.reason === 'NotFound') return new NodeFailure('NotFound', runtimeMessage(cause), { cause });
  if (!REFUSALS.has(cause.reason)) return cause;
  return new NodeFailure('CreateContainerError', runtimeMessage(cause), { cause });
}
