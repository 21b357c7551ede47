import type { PodChange } from '../actors/status/statusBoard.ts';
import type { Pod } from '../kubernetes/api/schema/pod.ts';
import type { CoreEvent } from '../kubernetes/events/event.ts';
import type { ForeignPod } from '../kubernetes/lifecycle/observed.ts';
import type { NodeObject } from '../kubernetes/node/nodeObject.ts';
import type { SourceProblem } from '../machines/shared/events.ts';
import type { ActorNode, RuntimeView } from '../show/actorNode.ts';
import type { NodeActors } from '../show/actorRows.ts';
import type { Explanation } from '../show/explain.ts';
import type { NodeExplanation } from '../show/explainNode.ts';
import type { PartExplanation, PodPart } from '../show/explainPart.ts';
import type { LogTails } from '../show/logTail.ts';

/** An event that is new, was counted once more, or is forgotten. */
interface EventChange {
  readonly event: CoreEvent;
  readonly removed: boolean;
}

/** The sockets of the runtime in use, as `unix:///…`. */
export interface RuntimeEndpoints {
  readonly runtime: string;
  readonly images: string;
}

/** Where a node has its credentials for registries, besides its root directory. */
export interface CredentialSources {
  /** Its `config.json` and `.dockercfg` count, like those of the home directory. */
  readonly workingDirectory: string;
  readonly homeDirectory: string;
  /** The configuration of the credential provider plugins, and the directory of their programs. */
  readonly providers?: { readonly config: string; readonly binDir: string };
}

/** The node itself, as the agent sees it. */
export interface NodeSummary {
  readonly name: string;
  readonly state: string;
  /** What that state is: `active` once it runs pods, `ending` on its way to its end. */
  readonly tags: readonly string[];
  /** In words, what has to happen for it to go on, and until when that is waited for; absent where it rests. */
  readonly waitingFor?: string;
  readonly until?: number;
  readonly runtime: Omit<RuntimeView, 'ready' | 'networkNotReady'> & { readonly state: string };
  readonly endpoints: RuntimeEndpoints;
  readonly registryCredentials: CredentialSources;
  readonly simulated: boolean;
  /** What of the node itself somebody has to see to. */
  readonly trouble?: string;
  /** Pods of others, which the agent leaves alone. */
  readonly foreign: readonly ForeignPod[];
  /** Why manifests are not used; the pod's last good version, if there is one, goes on. */
  readonly problems: readonly SourceProblem[];
  /** What is odd about those that are, and about where they are looked for. */
  readonly warnings: readonly SourceProblem[];
  /** The node's queues, plain data to show as it is. */
  readonly limiters: unknown;
}

/** What of a container somebody wants to read and write. */
export interface StreamRequest {
  /** Of the pod. */
  readonly uid: string;
  readonly container: string;
  /** What is to run in the container; absent: the process that it runs is meant. */
  readonly command?: readonly string[] | undefined;
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/** Where the runtime serves it, and which streams it expects there. */
export interface StreamPlace extends Pick<StreamRequest, 'stdin' | 'stdout' | 'stderr' | 'tty'> {
  readonly url: string;
}

/** Where on the host the things of a pod lie. */
export interface PodPlaces {
  /** The directory of all pods' logs. */
  readonly podLogs: string;
  /** The pod's own, below it: each container has one of its name. */
  readonly logs: string;
  /** The file or the URL, without secrets, that a static pod comes from; absent where that has it no more. */
  readonly manifest?: string;
}

/** What the socket, the tables and the explanations need of a node agent. */
export interface AgentPort {
  /** All pods the node knows, with full status; static pods under `NAME-NODE`. */
  pods(): readonly Pod[];
  /** The trees of the pods' actors, by uid. */
  trees(): ReadonlyMap<string, ActorNode>;
  /** Tells of every change until the function it returns is called. */
  subscribe(listener: (change: PodChange) => void): () => void;
  /** What happened in the last hour; what happened last stands last. */
  events(): readonly CoreEvent[];
  /** Tells of every event until the function it returns is called. */
  subscribeEvents(listener: (change: EventChange) => void): () => void;
  /** Why the pod of this UID is in the state it is in; undefined when there is none. */
  explain(uid: string, logs?: LogTails): Explanation | undefined;
  /** Why a container or a volume of it is; of a container with how its log ends. Undefined when there is none. */
  explainPart(uid: string, part: PodPart): Promise<PartExplanation | undefined>;
  /** How the logs of a pod's failed containers end, read now. */
  logTails(uid: string): Promise<LogTails>;
  /** Where its things lie; undefined when there is no pod of this UID. */
  places(uid: string): PodPlaces | undefined;
  /** All actors as they are now. */
  actors(): NodeActors;
  /** Why the node itself is in the state it is in. */
  explainNode(): NodeExplanation;
  /** The node as a core/v1 object. */
  nodeObject(): NodeObject;
  node(): NodeSummary;
  /**
   * Measures the CPU and memory that the node and its pods use, in the fields of a kubelet's summary. Undefined if the
   * node's API, which measures them, is turned off.
   */
  usage(signal: AbortSignal): Promise<object | undefined>;
  /** Has the runtime serve the streams of a container, for a minute. Rejects with a `NodeFailure` as a kubelet words it. */
  stream(request: StreamRequest, signal: AbortSignal): Promise<StreamPlace>;
  /** What it has recorded, and where. */
  recording(): Promise<AgentRecording>;
}

/** What is there of the recordings of an agent and of those before it. */
export interface AgentRecording {
  /** Whether this agent records. */
  readonly isOn: boolean;
  readonly directory: string;
  /** All of it; undefined where nothing is there. */
  readonly parts: AsyncIterable<Uint8Array> | undefined;
}
