import type { PodChange } from '../actors/status/statusBoard.ts';
import type { Pod } from '../kubernetes/api/schema/pod.ts';
import type { CoreEvent } from '../kubernetes/events/event.ts';
import type { EvictionFigures } from '../kubernetes/eviction/outlook.ts';
import type { ImageUse } from '../kubernetes/images/imageGarbage.ts';
import type { ForeignPod } from '../kubernetes/lifecycle/observed.ts';
import type { NodeObject } from '../kubernetes/node/nodeObject.ts';
import type { SourceProblem } from '../machines/shared/events/events.ts';
import type { ActorNode, RuntimeView } from '../show/actors/actorNode.ts';
import type { NodeActors } from '../show/actors/actorRows.ts';
import type { NodeExplanation } from '../show/explain/explainNode.ts';
import type { PartExplanation, PodPart } from '../show/explain/explainPart.ts';
import type { Explanation } from '../show/explain.ts';
import type { LogTails } from '../show/logTail.ts';

/** A notification that an event was created or removed, or that its count increased. */
interface EventChange {
  readonly event: CoreEvent;
  readonly removed: boolean;
}

/** The runtime's sockets, as `unix:///…` URLs. */
export interface RuntimeEndpoints {
  readonly runtime: string;
  readonly images: string;
}

/** Locations of a node's registry credentials that are outside its root directory. */
export interface CredentialSources {
  /** Working directory, whose `config.json` and `.dockercfg` are read. */
  readonly workingDirectory: string;
  /** Home directory, whose `.docker/config.json` and `.dockercfg` are read. */
  readonly homeDirectory: string;
  /** The configuration file of the credential provider plugins, and the directory of their executables. */
  readonly providers?: { readonly config: string; readonly binDir: string };
}

export interface NodeSummary {
  readonly name: string;
  readonly state: string;
  /** Tags of the state, e.g. `active` once the node runs pods and `ending` while it shuts down. */
  readonly tags: readonly string[];
  /** Description of the condition that the node waits for. Undefined if it waits for nothing. */
  readonly waitingFor?: string;
  /** Deadline of the wait, in milliseconds since the epoch. */
  readonly until?: number;
  readonly runtime: Omit<RuntimeView, 'ready' | 'networkNotReady'> & { readonly state: string };
  readonly endpoints: RuntimeEndpoints;
  readonly registryCredentials: CredentialSources;
  readonly simulated: boolean;
  /** A problem of the node that requires manual intervention. */
  readonly trouble?: string;
  /** Pods of other node agents on the same runtime, which this agent does not touch. */
  readonly foreign: readonly ForeignPod[];
  /**
   * Errors in rejected manifests. The pod of a rejected manifest continues to run with the last valid version of that
   * manifest, if there is one.
   */
  readonly problems: readonly SourceProblem[];
  /** Warnings about accepted manifests and about the manifest directory. */
  readonly warnings: readonly SourceProblem[];
  /** State of the node's limiters as plain data, for display only. */
  readonly limiters: unknown;
}

/** A request to open the streams of a container. */
export interface StreamRequest {
  readonly uid: string;
  readonly container: string;
  /** Command to run in the container. If undefined, the streams are those of the container's main process. */
  readonly command?: readonly string[] | undefined;
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/** The URL at which the runtime serves the streams, and the options with which a client must connect to it. */
export interface StreamEndpoint extends Pick<StreamRequest, 'stdin' | 'stdout' | 'stderr' | 'tty'> {
  readonly url: string;
}

/** Paths of a pod's logs and manifest on the host. */
export interface PodPaths {
  /** The directory of all pods' logs. */
  readonly podLogs: string;
  /** The log directory of the pod, a subdirectory of `podLogs` with a subdirectory for each container. */
  readonly logs: string;
  /**
   * The file or URL that a static pod comes from, without credentials. Undefined if the source no longer contains the
   * pod.
   */
  readonly manifest?: string;
}

/** The interface of a node agent that the socket, the tables and the explanations use. */
export interface AgentPort {
  /** All pods of the node with their full status. Static pods are named `NAME-NODE`. */
  pods(): readonly Pod[];
  /** The actor trees of the pods, by UID. */
  trees(): ReadonlyMap<string, ActorNode>;
  /** Calls `listener` on every change to a pod until the returned function is called. */
  subscribe(listener: (change: PodChange) => void): () => void;
  /**
   * Lists the runtime's objects immediately. Resolves to true once the runtime has responded and the resulting statuses
   * have been published. Resolves to false if that fails or the signal aborts.
   */
  confirmPods(signal: AbortSignal): Promise<boolean>;
  /** The events of the last hour, ordered by their latest occurrence. */
  events(): readonly CoreEvent[];
  /** Calls `listener` on every change to an event until the returned function is called. */
  subscribeEvents(listener: (change: EventChange) => void): () => void;
  /** Explains the state of the pod with this UID. Undefined if there is no such pod. */
  explain(uid: string, logs?: LogTails): Explanation | undefined;
  /**
   * Explains the state of a container or volume. For a container, includes the last lines of its log. Undefined if
   * there is no such container or volume.
   */
  explainPart(uid: string, part: PodPart): Promise<PartExplanation | undefined>;
  /** Reads the last lines of the logs of a pod's failed containers. */
  logTails(uid: string): Promise<LogTails>;
  /** Returns the paths of a pod's files. Undefined if there is no pod with this UID. */
  podPaths(uid: string): PodPaths | undefined;
  /** The current actor trees. */
  actors(): NodeActors;
  /** Explains the state of the node itself. */
  explainNode(): NodeExplanation;
  nodeObject(): NodeObject;
  node(): NodeSummary;
  /**
   * Measures the CPU and memory usage of the node and its pods, in the format of the kubelet's summary. Undefined if
   * the node's API, which performs the measurements, is disabled.
   */
  usage(signal: AbortSignal): Promise<object | undefined>;
  /**
   * Requests an exec or attach URL for a container from the runtime, which serves the streams there for a minute.
   * Rejects with a `NodeFailure` whose message is the same as the kubelet's.
   */
  stream(request: StreamRequest, signal: AbortSignal): Promise<StreamEndpoint>;
  recording(): Promise<AgentRecording>;
  /**
   * Measures the node and its pods in order to predict evictions. Undefined if the node never evicts pods. Rejects with
   * a `NodeFailure` if a measurement fails.
   */
  evictionFigures(signal: AbortSignal): Promise<EvictionFigures | undefined>;
  /**
   * Returns information about the use of each image in the runtime. Rejects with a `NodeFailure` if the runtime cannot
   * list its images.
   */
  imageUses(signal: AbortSignal): Promise<readonly ImageUse[]>;
}

/** The recordings of this agent and of earlier agents with the same root directory. */
export interface AgentRecording {
  /** Whether this agent records. */
  readonly isOn: boolean;
  readonly directory: string;
  /** All bytes of the recordings. Undefined if there are none. */
  readonly chunks: AsyncIterable<Uint8Array> | undefined;
}
