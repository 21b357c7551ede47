/**
 * Declares everything that a node needs besides its configuration: its access to the host and the runtime, its cluster,
 * and the listeners that observe it. The defaults of optional parts are for a node on a real host.
 */
import type { InspectionEvent } from 'xstate';
import type { Clock } from '../../base/time/clock.ts';
import type { Cri } from '../../cri/client/calls.ts';
import type { Cgroups } from '../../host/cgroup/cgroups.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import type { KernelLog } from '../../host/kernelLog/kernelLog.ts';
import type { Logind } from '../../host/logind/logind.ts';
import type { KubeClient } from '../../kubeclient/client.ts';
import type { RuntimeClasses } from '../../kubernetes/api/runtimeClass.ts';
import type { ImageDisk } from '../../kubernetes/images/imageGarbage.ts';
import type { PodIdentity } from '../../kubernetes/lifecycle/observed.ts';
import type { OomKill } from '../../kubernetes/lifecycle/oomKill.ts';
import type { CloudSettings } from '../../kubernetes/node/cloud.ts';
import type { HostIdentity } from '../../kubernetes/node/nodeObject.ts';
import type { ClusterAccess } from '../../machines/node/cluster/cluster.ts';
import type { ClusterInput } from '../../machines/node/context.ts';
import type { RuntimeHealth } from '../../machines/shared/events/events.ts';
import type { MachineDecision } from '../../machines/shared/events/machineDecision.ts';
import type { Mounter } from '../../volume/mount/mounter.ts';
import type { ClusterContent } from '../../volume/plugins/plugin.ts';
import type { CallListener, InputRecorder, NodeEnvironment } from '../boundary.ts';
import type { ResourceDrivers } from '../claims/resourceDrivers.ts';
import type { CertificateDependencies } from '../cluster/certificates/certificates.ts';
import type { PodCache } from '../cluster/pods/podCache.ts';
import type { DevicePlugins } from '../devices/devicePlugins.ts';
import type { EventSink } from '../events/eventSink.ts';
import type { ObjectSettings } from '../objects/clusterObjects.ts';
import type { OutcomeListener } from '../portOutcome.ts';
import type { Redaction } from '../replay/redaction.ts';
import type { RelistStats } from '../runtime/relistRequests.ts';
import type { ServiceAction } from '../serviceAction.ts';
import type { RestartRuntime } from '../services/containers/lostTasks.ts';
import type { ResourceMeter } from '../services/eviction/eviction.ts';
import type { Network } from '../services/http/network.ts';
import type { FindCredentials } from '../services/images/nodeCredentials.ts';
import type { StartThread } from '../sources/manifest/manifestReader.ts';
import type { OnManifestProblem } from '../sources/sourceReporters.ts';
import type { StateChange } from '../status/sinceMap.ts';
import type { StatusSink } from '../status/statusReports.ts';
import type { openNodeStore } from '../store/durableFacts.ts';

/** The connection of a node to its cluster. */
export interface ClusterParts {
  readonly client: KubeClient;
  /** The pods of the node as last reported by the API server. */
  readonly pods: PodCache;
  /** A client with separate connections, used only for the lease. */
  readonly leaseClient: KubeClient;
  readonly host: HostIdentity;
  readonly leaseSeconds: number;
  /** Interval at which the Node status is checked for changes, in milliseconds. */
  readonly statusCheckMs: number;
  /** Interval at which the Node status is written even without changes, in milliseconds. */
  readonly statusReportMs: number;
  /** Maximum number of images in the Node status, or -1 for all. */
  readonly statusImages: number;
  /** Settings for refreshing the objects that pods reference. */
  readonly objects: ObjectSettings;
  /** Whether volumes can contain ClusterTrustBundles. Defaults to false. */
  readonly hasTrustBundles?: boolean;
  /** The cloud provider's ID of the node. Empty without a cloud. */
  readonly providerId: string;
  /** Undefined if no cloud controller sets the node's addresses. */
  readonly cloud?: CloudSettings | undefined;
  /** Whether the node creates its Node object. Otherwise, an administrator or another component must create it. */
  readonly createsNode: boolean;
  /** Whether the attach-detach controller of the cluster attaches volumes to the node. */
  readonly attachesByController: boolean;
  /** Called with the UID of the Node object, and again if the object is replaced. */
  readonly onNodeUid?: (uid: string) => void;
  /** The certificates that the node manages itself. Undefined if there are none. */
  readonly certificates?: CertificateDependencies & Pick<Required<ClusterInput>, 'certificates'>;
  /** Port of the kubelet API. Undefined or 0 if the node does not serve it. */
  readonly servedPort?: () => number;
  /** The node's access to the API server, for display only. */
  readonly access?: ClusterAccess;
}

/** The node's access to its host and its runtime. Tests and simulations replace it. */
interface HostAccess {
  /** The runtime client. The caller closes it. */
  readonly cri: Cri;
  /** Defaults to the system clock. */
  readonly clock?: Clock;
  /** Returns a random number in [0, 1). Defaults to the system's random number generator. */
  readonly jitter?: () => number;
  /** The file system of the root directory, pod logs and manifests. Defaults to the host's. */
  readonly files?: FileSystem;
  /** Mounts volumes and accesses their contents. Defaults to the host's mounter. */
  readonly mounter?: Mounter;
  /** The network used by probes, hooks and manifest URLs. Defaults to the host's. */
  readonly network?: Network;
  /**
   * Reads the size of the filesystem that contains a path, for image garbage collection. Defaults to the host's
   * `statfs`.
   */
  readonly readImageDisk?: ((path: string, signal: AbortSignal) => Promise<ImageDisk | undefined>) | undefined;
  /** Starts the worker thread that parses large manifests. Defaults to a real thread. */
  readonly startThread?: StartThread;
  /** Yields to the event loop. Defaults to waiting until the event loop has polled for I/O. */
  readonly nextTurn?: () => Promise<void>;
  /** Undefined if the agent does not manage pod cgroups, e.g. with a simulated runtime. */
  readonly cgroups?: Cgroups | undefined;
  /** The kernel log, in which OOM kills appear. Undefined if the node does not watch for them. */
  readonly kernelLog?: KernelLog | undefined;
  /**
   * Returns the OOM kills in the containers' cgroups since the last call. Used while the kernel log cannot be read.
   * Undefined if these kills are not reported.
   */
  readonly countOomKills?: (() => readonly OomKill[]) | undefined;
  /** The device plugins of the host. Undefined if the node has none. */
  readonly devicePlugins?: DevicePlugins | undefined;
  /** Measures the resources that eviction protects. Undefined if the node evicts no pods. */
  readonly resourceMeter?: ResourceMeter | undefined;
  /** The login manager, which shuts down the host. Undefined if the node does not monitor shutdowns. */
  readonly logind?: Logind | undefined;
  /** Reads the RuntimeClasses. Undefined if there are none. */
  readonly readClasses?: () => Promise<RuntimeClasses>;
  /** The node's registry credentials. Undefined if there are none. */
  readonly findCredentials?: FindCredentials | undefined;
  /** The drivers of dynamic resource allocation. Defaults to none. */
  readonly drivers?: ResourceDrivers | undefined;
  /** Undefined if the runtime is not private to this node. */
  readonly restartRuntime?: RestartRuntime | undefined;
}

/** Callbacks that observe the node without affecting it. */
interface NodeListeners {
  /** Receives the events of the node, its pods and its containers. */
  readonly events?: EventSink | undefined;
  /** Called with every input that the boundary records: facts, port responses and elapsed timers. */
  readonly onInput?: InputRecorder | undefined;
  /** Called when a port call starts, and again if the call is cancelled. */
  readonly onPortCall?: CallListener | undefined;
  /** Called with the outcome of every port call. Outcomes may contain secrets. */
  readonly onPortOutcome?: OutcomeListener | undefined;
  /** Receives the machines' decisions that are only visible in metrics. */
  readonly onDecision?: ((decision: MachineDecision) => void) | undefined;
  /** Receives the service actions that are only visible in metrics. */
  readonly onServiceAction?: ((action: ServiceAction) => void) | undefined;
  /** Called for each state that an actor enters. */
  readonly onStateChange?: ((move: StateChange) => void) | undefined;
  /** Called with every XState inspection event. Attach it only during an inspection. */
  readonly inspect?: ((event: InspectionEvent) => void) | undefined;
  /** Called with errors from services and feeds, and with errors about damaged durable facts. */
  readonly onError?: (source: string, error: unknown) => void;
  /** Called once for each problem or warning in a manifest. */
  readonly onManifestProblem?: OnManifestProblem;
  /** Called with the reason when the agent adopts a pod directory that it did not create. */
  readonly onAdopted?: (pod: PodIdentity, why: string) => void;
  /** Called after each relist of the runtime's pods. */
  readonly onRelisted?: ((relist: RelistStats) => void) | undefined;
  readonly onRuntimeHealth?: (health: RuntimeHealth) => void;
}

/** The parts of a node. `objects`, `tokens` and `trustBundles` default to those of the cluster. */
export interface NodeParts extends ClusterContent, HostAccess, NodeListeners {
  /** The cluster of the node. Undefined for a standalone node. */
  readonly cluster?: ClusterParts | undefined;
  /**
   * Path prefix of the tmpfs directories that cache the objects of each source across agent restarts. If undefined, the
   * objects are not cached.
   */
  readonly objectCachePrefix?: string | undefined;
  /** Opens the store of durable facts. Defaults to files below the root directory. */
  readonly openStore?: typeof openNodeStore;
  /** Ports and feeds that replace the real ones. */
  readonly ports?: Partial<NodeEnvironment['ports']>;
  readonly feeds?: Partial<NodeEnvironment['feeds']>;
  /** Destinations of statuses. Each may be slow and may fail. */
  readonly sinks?: readonly StatusSink[];
  /** Removes secrets from all output. Pass a redaction in order to share it, e.g. with a log. */
  readonly redaction?: Redaction | undefined;
}
