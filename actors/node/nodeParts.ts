/** What a node is made of beside its configuration; whatever is absent is as on a real node with nothing special. */
import type { InspectionEvent } from 'xstate';
import type { Clock } from '../../base/clock.ts';
import type { Cri } from '../../cri/client/calls.ts';
import type { Cgroups } from '../../host/cgroup/cgroups.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import type { KubeClient } from '../../kubeclient/client.ts';
import type { RuntimeClasses } from '../../kubernetes/api/runtimeClass.ts';
import type { PodIdentity } from '../../kubernetes/lifecycle/observed.ts';
import type { CloudSettings } from '../../kubernetes/node/cloud.ts';
import type { HostIdentity } from '../../kubernetes/node/nodeObject.ts';
import type { ClusterAccess } from '../../machines/node/cluster.ts';
import type { ClusterInput } from '../../machines/node/context.ts';
import type { CountedDecision } from '../../machines/shared/countedDecision.ts';
import type { RuntimeHealth } from '../../machines/shared/events.ts';
import type { Mounter } from '../../volume/mount/mounter.ts';
import type { ClusterContent } from '../../volume/plugins/plugin.ts';
import type { CallListener, Recorder, World } from '../boundary.ts';
import type { CertificateParts } from '../cluster/certificates/certificates.ts';
import type { PodCache } from '../cluster/pods/podCache.ts';
import type { CountedDeed } from '../countedDeed.ts';
import type { EventSink } from '../events/eventSink.ts';
import type { ObjectSettings } from '../objects/clusterObjects.ts';
import type { OutcomeListener } from '../portOutcome.ts';
import type { Redaction } from '../replay/redaction.ts';
import type { Relist } from '../runtime/relist.ts';
import type { RestartRuntime } from '../services/containers/lostTasks.ts';
import type { Network } from '../services/http/network.ts';
import type { FindCredentials } from '../services/images/nodeCredentials.ts';
import type { StartThread } from '../sources/manifest/manifestReader.ts';
import type { OnManifestProblem } from '../sources/sourceNews.ts';
import type { StateChange } from '../status/sinceMap.ts';
import type { StatusSink } from '../status/statusReports.ts';
import type { openNodeStore } from '../store/durableFacts.ts';

/** How a node speaks with its cluster. */
export interface ClusterParts {
  readonly client: KubeClient;
  /** What the server has of the node's pods, as far as is known. */
  readonly pods: PodCache;
  /** The same server by connections of its own, for the lease alone. */
  readonly leaseClient: KubeClient;
  readonly host: HostIdentity;
  /** How long the lease lasts, in seconds. */
  readonly leaseSeconds: number;
  /** How often it is looked whether the status of its Node has changed, in milliseconds. */
  readonly statusCheckMs: number;
  /** How often the status of its Node is written in any case, in milliseconds. */
  readonly statusReportMs: number;
  /** How many images that status lists; -1: all. */
  readonly statusImages: number;
  /** How what pods name is kept up to date. */
  readonly objects: ObjectSettings;
  /** Whether volumes can show its trust anchors; absent: they cannot. */
  readonly hasTrustBundles?: boolean;
  /** As a cloud knows the node; empty for none. */
  readonly providerId: string;
  /** Absent: no cloud's controller tells its addresses. */
  readonly cloud?: CloudSettings | undefined;
  /** Whether the node registers itself; else somebody else makes its Node. */
  readonly registers: boolean;
  /** Whether the controller of the cluster attaches volumes to the node. */
  readonly attachesByController: boolean;
  /** Is told the UID of its Node, and that of another one in its place. */
  readonly onNodeUid?: (uid: string) => void;
  /** Which certificates the node keeps itself, and how; absent: none. */
  readonly certificates?: CertificateParts & Pick<Required<ClusterInput>, 'certificates'>;
  /** Where the node serves its own API; absent, or 0: it serves none. */
  readonly servedPort?: () => number;
  /** How the server is asked, for people; absent: that is not shown. */
  readonly access?: ClusterAccess;
}

/** What pods get of a cluster is that of the cluster where nothing else is given. */
export interface NodeParts extends ClusterContent {
  /** The runtime; whoever gives it closes it. */
  readonly cri: Cri;
  /** The system's when absent. */
  readonly clock?: Clock;
  /** At least 0 and less than 1; the system's when absent. */
  readonly jitter?: () => number;
  /** Where the root directory, the pods' logs and the manifests are; absent: the host's own. */
  readonly files?: FileSystem;
  /** Mounts volumes, and works in them; absent: on the host. */
  readonly mounter?: Mounter;
  /** What probes, hooks and the source of a URL dial; absent: the host's own. */
  readonly network?: Network;
  /** Starts the thread that large manifests are read in; absent: a real one. */
  readonly startThread?: StartThread;
  /** Lets whoever else waits for the event loop have a turn; absent: before the next events of the host. */
  readonly nextTurn?: () => Promise<void>;
  /** Absent where pods have no cgroups of their own, or no containers. */
  readonly cgroups?: Cgroups | undefined;
  /** Reads the RuntimeClasses; absent: there are none. */
  readonly readClasses?: () => Promise<RuntimeClasses>;
  /** The node's credentials for registries; absent: it has none. */
  readonly findCredentials?: FindCredentials | undefined;
  /** Absent: the runtime is not the node's own. */
  readonly restartRuntime?: RestartRuntime | undefined;
  /** The cluster that the node belongs to; absent: none. */
  readonly cluster?: ClusterParts | undefined;
  /**
   * In memory: what the pods of each source have of its manifests outlives the agent in a directory that begins like this;
   * absent: it does not.
   */
  readonly keptObjects?: string | undefined;
  /** Opens what outlives a restart; absent: the files below the root directory. */
  readonly openStore?: typeof openNodeStore;
  /** What fills ports and brings facts instead of the services made of these parts. */
  readonly ports?: Partial<World['ports']>;
  readonly feeds?: Partial<World['feeds']>;
  /** Where statuses go; each may be slow, and may fail. */
  readonly sinks?: readonly StatusSink[];
  /** Told what happened to the node, its pods and containers. */
  readonly events?: EventSink | undefined;
  /** Keeps secrets out of what leaves; given by who has texts of its own to keep them out of, as a log. */
  readonly redaction?: Redaction | undefined;
  /** Sees every entry of the recording boundary. */
  readonly record?: Recorder | undefined;
  /** Told of every call that goes out through a port. */
  readonly calls?: CallListener | undefined;
  /** Told how each such call went; what it is told may hold secrets. */
  readonly answers?: OutcomeListener | undefined;
  /** Gets the decisions that only metrics show. */
  readonly decisions?: ((decision: CountedDecision) => void) | undefined;
  /** Gets what the services do that only metrics show. */
  readonly deeds?: ((deed: CountedDeed) => void) | undefined;
  /** Told of each state that an actor comes into. */
  readonly moves?: ((move: StateChange) => void) | undefined;
  /** Sees every inspection event of xstate; attach it only while someone looks. */
  readonly inspect?: ((event: InspectionEvent) => void) | undefined;
  /** Told of what services threw, of what feeds met, and of what is wrong with durable facts. */
  readonly onError?: (source: string, error: unknown) => void;
  /** Told of each problem and warning in a manifest once. */
  readonly onManifestProblem?: OnManifestProblem;
  /** Told when the directory of a pod is adopted that this agent did not make, and why it was not its own. */
  readonly onAdopted?: (pod: PodIdentity, why: string) => void;
  /** Told of each list of what the runtime has. */
  readonly onRelisted?: ((relist: Relist) => void) | undefined;
  /** Told when the runtime's health changes. */
  readonly onRuntimeHealth?: (health: RuntimeHealth) => void;
}
