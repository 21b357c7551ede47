/**
 * The ports: everything that the machines ask of the world, as the types of what goes out and what comes back.
 * A machine names a port in `setup`; `provided` puts the real one there, behind the one recording boundary.
 * Everything that comes back is plain, serialisable data; a rejection is a `Failure`.
 */

import {
  type AnyActorLogic,
  type AnyStateMachine,
  type CallbackActorLogic,
  fromCallback,
  fromPromise,
  type NonReducibleUnknown,
  type PromiseActorLogic,
  StateMachine,
} from 'xstate';
import type { Failure } from '../../base/failure.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { EventMessage } from '../../kubernetes/events/recordedEvent.ts';
import type { AttemptIdentity } from '../../kubernetes/lifecycle/changedId.ts';
import type { DeadContainer } from '../../kubernetes/lifecycle/garbage.ts';
import type {
  ContainerRun,
  ForeignPod,
  LeftPod,
  ObservedContainer,
  ObservedSandbox,
} from '../../kubernetes/lifecycle/observed.ts';
import type { MountedVolume, MountedVolumes } from '../../kubernetes/mountedVolume.ts';
import type { CgroupSetUp } from '../../kubernetes/resources/cgroup.ts';
import type { ContainerSize } from '../../kubernetes/resources/containerSize.ts';
import type { ProbeKind } from '../../kubernetes/status/view.ts';
import type { CertificatePorts } from '../certificate/ports.ts';
import type { SeenNode } from './clusterFacts.ts';
import type { FeedName } from './events.ts';
import type { FoundImage } from './foundImage.ts';
import type { TimerInput } from './timerInput.ts';

/** A container of a pod that the runtime has, also where it has another id there by now. */
export interface KnownContainer extends AttemptIdentity {
  readonly pod: Pod;
  readonly container: string;
}

/** A request and the answer to it. */
export interface PortTypes extends CertificatePorts {
  /** Sends a sink a pod's latest status and tells its version; rejects with its words. Within a time limit. Idempotent. */
  putStatus: { input: { sink: string; uid: string }; output: { version: number } };
  /**
   * Makes the Node object, or brings one that is there up to date: its labels, annotations and resources. Within a time
   * limit. Idempotent. `events` are what was found of the node for it.
   */
  registerNode: { input: null; output: { uid: string; events: readonly EventMessage[]; isNew?: boolean } };
  /** Asks the API server for the Node as it is at this moment. Within a time limit. */
  readNode: { input: null; output: SeenNode };
  /** Makes the CSINode of the Node with this UID, in the place of one of another Node. Within a time limit. Idempotent. */
  ensureCsiNode: { input: { uid: string }; output: null };
  /** Writes the Node's status where it is another, or was not for a while; `events` are what it came to. Idempotent. */
  putNodeStatus: { input: null; output: { isWritten: boolean; events: readonly EventMessage[] } };
  /** Makes the mirror of a static pod at the API server, owned by the Node with this UID. Within a time limit. */
  createMirror: { input: { pod: Pod; nodeUid: string }; output: null };
  /** Removes a mirror at once, unless its name is another's by now. Within a time limit. Idempotent. */
  removeMirror: { input: { namespace: string; name: string; uid: string }; output: null };
  /** Renews the lease, or makes it; without a Node there is none. Within a time limit. `chance` is from 0 to less than 1. */
  renewLease: { input: null; output: { isHeld: boolean; chance: number } };
  /**
   * Makes what a pod needs on disk before its volumes: its directory, log directory, hosts file. `ran` are the
   * sandboxes that the runtime has of it already. Idempotent.
   */
  preparePod: { input: { pod: Pod; ran: readonly string[] }; output: null };
  /**
   * Makes the cgroups above those of pods with their limits, and makes up for what was left out while pods of others
   * were in them. Idempotent.
   */
  setUpCgroups: { input: null; output: CgroupSetUp };
  /** Makes the pod's cgroup with the limits of the pod, before anything runs in it (C25). Idempotent. */
  prepareCgroup: { input: { pod: Pod }; output: null };
  /**
   * Kills what is left in the pod's cgroup and removes it, when all volumes are unmounted; `ran` are the sandboxes that
   * the runtime had of the pod. Idempotent.
   */
  removeCgroup: { input: { pod: Pod; ran: readonly string[] }; output: null };
  /**
   * Removes what `preparePod` made, as the last step. `keepsLogs` leaves the logs, because the pod starts again and the
   * numbers of its restarts continue. Idempotent.
   */
  removePodData: { input: { pod: Pod; keepsLogs?: boolean }; output: null };
  /**
   * Makes a volume's content available at a path of the host, or brings it up to date in place; of an image, which the runtime mounts, it
   * only says whether that can. Idempotent.
   */
  mountVolume: { input: { pod: Pod; volume: string; limitMs: number }; output: MountedVolume | null };
  unmountVolume: { input: { pod: Pod; volume: string; limitMs: number }; output: null };
  /** Runs a sandbox and reads its status, so that the answer carries the pod's addresses. */
  runSandbox: {
    input: { pod: Pod; attempt: number };
    /** With what its author should know of how it was made; `madeAt` is when it answered, in milliseconds since the epoch. */
    output: ObservedSandbox & { readonly madeAt: number; readonly warnings?: readonly EventMessage[] };
  };
  /**
   * The sandbox as it is, null when the runtime does not have it. Fails where the runtime has it under another id: only a
   * list tells under which id it has what is in it.
   */
  inspectSandbox: {
    input: { id: string; sandbox: Pick<ObservedSandbox, 'podUid' | 'attempt' | 'createdAt'> | undefined };
    output: ObservedSandbox | null;
  };
  /**
   * Stops sandboxes, which are all that the pod has, and everything in them; their network goes with them. Processes
   * that the runtime does not know any more are killed. Idempotent.
   */
  stopSandboxes: { input: { pod: Pod; ids: readonly string[] }; output: null };
  /** Removes sandboxes with all containers in them. */
  removeSandboxes: { input: { ids: readonly string[] }; output: null };
  /** Asks for the restart of a runtime that is the node's own, which its pods survive; any other stays as it is. */
  restartRuntime: { input: { why: string }; output: null };
  /** The image's reference on this node, null when it is not there; and when it was asked for. */
  findImage: { input: { pod: Pod; image: string; policy: string | undefined }; output: FoundImage };
  /** Pulls an image within the limit, whatever is there already. The times are in milliseconds since the epoch. */
  pullImage: {
    input: { pod: Pod; image: string; limitMs: number | undefined };
    output: { imageRef: string; sizeBytes: number; startedAt: number; finishedAt: number };
  };
  /**
   * How often each of these containers was restarted, counting the run to come, by the logs of its former runs: asked
   * where the runtime has none of it. Logs that cannot be read are told, and count as none, and so do those that are not
   * read within the limit, in milliseconds, if there is one.
   */
  countRestarts: {
    input: { pod: Pod; containers: readonly string[]; limitMs?: number };
    output: { restarts: Readonly<Record<string, number>> };
  };
  /** Has the objects at hand that a container's variables are of, for its creation; they stay there. Limited. Idempotent. */
  readObjects: { input: { pod: Pod; container: string }; output: null };
  /** Sees to it that a container of this name and attempt exists in the sandbox, also when an earlier answer was lost. */
  createContainer: {
    input: {
      pod: Pod;
      container: string;
      sandbox: ObservedSandbox;
      attempt: number;
      imageRef: string;
      volumes: MountedVolumes;
    };
    output: { id: string };
  };
  /**
   * Sees to it that a container has started, makes its log symlink, and reads its status: it may already have ended. The
   * answer has the id under which the runtime has it.
   */
  startContainer: {
    input: KnownContainer;
    /** `refusal` is the runtime's reason why the container could not be started. The container has exited then. */
    output: ObservedContainer & { readonly refusal?: { readonly message: string } };
  };
  /**
   * Stops a container: SIGTERM, then SIGKILL at the deadline or, without one, when the grace is over; at least 2 s are
   * given (C10). The answer is its last status, null when the runtime does not have it, under this id or another; a
   * failure tells what was given.
   */
  stopContainer: {
    input: KnownContainer & { graceSeconds: number; deadline: number | undefined };
    output: ObservedContainer | null;
  };
  /** Gives a running container the resources of its spec, its pod's cgroup growing before it; tells which it has then. */
  resizeContainer: { input: { pod: Pod; container: string; id: string }; output: { size: ContainerSize } };
  /** Gives the pod's cgroup the limits of the pod, once its containers have theirs. Idempotent. */
  fitPod: { input: { pod: Pod }; output: null };
  removeContainers: { input: { ids: readonly string[] }; output: null };
  /** Removes dead containers with their logs, and empty sandboxes: as many as it can, then the first failure. Idempotent. */
  removeGarbage: {
    input: { containers: readonly DeadContainer[]; sandboxes: readonly string[] };
    output: null;
  };
  /** Rotates the logs that have grown too large; what fails with one is told, and hinders no other. */
  rotateLogs: { input: { logs: readonly ContainerRun[] }; output: null };
  /**
   * The pods with a directory here that are not known: those that this agent left, and those of others, of these only
   * what is another than in the input: `gone` are the uids of those that are here no more. `failure` is why something that
   * was left half made or half removed stays.
   */
  surveyDisk: {
    input: { known: readonly string[]; foreign: readonly ForeignPod[] };
    output: {
      left: readonly LeftPod[];
      foreign: readonly ForeignPod[];
      gone?: readonly string[];
      failure?: Failure;
    };
  };
  /** The container as it is, under the id that the runtime has for it; null when the runtime does not have it. */
  inspectContainer: { input: KnownContainer; output: ObservedContainer | null };
  /**
   * Runs a hook of a container within the grace; how it ends is its answer, a failed preStop hook being no hindrance.
   * `deadline` is when the grace is over (ms since the epoch): the one given, or the one that the hook began with.
   */
  runHook: {
    input: {
      pod: Pod;
      container: string;
      id: string;
      hook: 'postStart' | 'preStop';
      podIp: string | undefined;
      graceSeconds: number;
      deadline: number | undefined;
    };
    /**
     * Until when the container may take after it, and how many seconds, whatever the clock was set to meanwhile (absent from
     * earlier recordings); with what the pod's author should know of how it was run.
     */
    output: { deadline: number; graceSeconds?: number; failure: Failure | null; warnings?: readonly EventMessage[] };
  };
  /**
   * Tries a probe once, within its timeout. What the container does wrong is its answer; so is an `error` of the tool,
   * which says nothing of the container and was tried three times.
   */
  runProbe: { input: ProbeRun; output: ProbeAnswer };
  /** A random moment, at most so many milliseconds from now. */
  pickMoment: { input: { withinMs: number }; output: { at: number } };
}

/** Which probe of which container is tried. */
export interface ProbeRun {
  readonly pod: Pod;
  readonly container: string;
  readonly kind: ProbeKind;
  readonly id: string;
  /** Absent for a pod without addresses of its own. */
  readonly podIp: string | undefined;
}

/** How a try went; both moments are milliseconds since the epoch. */
export interface ProbeAnswer {
  readonly result: 'success' | 'warning' | 'failure' | 'error';
  readonly message: string;
  readonly beganAt: number;
  readonly at: number;
}

export type PortName = keyof PortTypes;

/** The type of a port's promise logic. */
export type Port<K extends PortName> = PromiseActorLogic<
  PortTypes[K]['output'] & NonReducibleUnknown,
  PortTypes[K]['input'] & NonReducibleUnknown
>;

export type TimerLogic = CallbackActorLogic<{ type: 'timer.never' }, TimerInput>;

/** A feed: a callback actor that brings facts in until it is stopped. */
export type FeedLogic = CallbackActorLogic<{ type: 'feed.never' }>;

/** What takes the place of the placeholders that machines declare. */
export interface Provider {
  port<K extends PortName>(name: K): Port<K>;
  feed(name: FeedName): FeedLogic;
  readonly timer: TimerLogic;
}

const placeholders = new WeakMap<object, (provider: Provider) => AnyActorLogic>();

function placeholder<L extends AnyActorLogic>(logic: L, provide: (provider: Provider) => L): L {
  placeholders.set(logic, provide);
  return logic;
}

/** A port as a machine declares it: a placeholder that rejects until `provided` puts the real one there. */
export function port<K extends PortName>(name: K): Port<K> {
  const missing = fromPromise<PortTypes[K]['output'], PortTypes[K]['input'] & NonReducibleUnknown>(() =>
    Promise.reject(new Error(`the port ${name} is not provided`)),
  );
  return placeholder(missing as Port<K>, (provider) => provider.port(name));
}

/** The timer as machines declare it; the real one counts on the injected clock. */
export function timerPort(): TimerLogic {
  const missing = fromCallback<{ type: 'timer.never' }, TimerInput>(() => {
    throw new Error('the timer is not provided');
  });
  return placeholder(missing, ({ timer }) => timer);
}

/** A feed as a machine declares it. */
export function feedPort(name: FeedName): FeedLogic {
  const missing = fromCallback<{ type: 'feed.never' }>(() => {
    throw new Error(`the feed ${name} is not provided`);
  });
  return placeholder(missing, (provider) => provider.feed(name));
}

/** A machine and all that it can spawn or invoke, with every placeholder replaced. */
export function provided<M extends AnyStateMachine>(machine: M, provider: Provider): M {
  const actors = Object.entries(machine.implementations.actors).map(([name, logic]) => {
    const real = logic instanceof StateMachine ? provided(logic, provider) : placeholders.get(logic)?.(provider);
    return [name, real ?? logic];
  });
  // Each is of the type that it takes the place of.
  return machine.provide({ actors: Object.fromEntries(actors) }) as M;
}
