/**
 * A story is a plan for a simulated node. It is plain data that can be generated from a seed, shrunk, stored and played
 * again.
 */
import type { ObjectSettings } from '../../../actors/objects/clusterObjects.ts';
import type { TopologyPolicyName } from '../../../kubernetes/cpus/topologyHints.ts';
import type { DiskLayout } from '../../../kubernetes/eviction/layout.ts';
import type { ApiOutage } from '../cluster/apiNetwork.ts';
import type { ApiObject, ObjectKind } from '../cluster/apiObject.ts';
import type { ApiPart, ApiPartFault } from '../cluster/apiPartFaults.ts';
import type { WatchFault } from '../faults/directoryWatches.ts';
import type { DiskFault, UrlFault } from '../faults/hostFaults.ts';
import type { EventFault, RuntimeRestart } from '../faults/runtimeFaults.ts';
import type { SimulatedMachine } from '../host/cpuTopologies.ts';
import type { CgroupAccess } from '../host/hostCgroups.ts';
import type { HostResource } from '../host/hostResources.ts';
import type { CallFault, CallTarget } from '../run/gate.ts';
import type { Corruption } from '../users/users.ts';
import type { Manifest } from './manifests.ts';

/** Actions of users who write manifests. */
type UserAction =
  /** Applies a manifest in the directory of static pods or in the list at the manifest URL. */
  | { readonly kind: 'apply'; readonly pod: Manifest; readonly by?: 'url' }
  /** Writes a manifest in place. First writes the given share of it, from 0 to 1, and the rest after `restMs`. */
  | { readonly kind: 'writeInParts'; readonly pod: Manifest; readonly share: number; readonly restMs: number }
  /** Removes the manifest of a pod. Does nothing if there is none. */
  | { readonly kind: 'remove'; readonly pod: string }
  /** Renames the manifest file of a pod, or copies it to an additional file. */
  | { readonly kind: 'renameManifest' | 'copyManifest'; readonly pod: string; readonly file: string }
  /** Renames a pod in the list at the manifest URL. */
  | { readonly kind: 'renameListed'; readonly pod: string; readonly name: string }
  /** Writes an invalid file to the manifest directory. */
  | { readonly kind: 'scribble'; readonly file: string; readonly text: string }
  /** Makes the manifest file of a pod unreadable for `forMs`. The pod keeps running. */
  | { readonly kind: 'spoil'; readonly pod: string; readonly how: Corruption; readonly forMs: number }
  | { readonly kind: 'manifestsGone'; readonly forMs: number }
  | { readonly kind: 'url'; readonly fault: UrlFault; readonly forMs: number };

/** Failures of containers and sandboxes. `which` is an index into all of them, modulo their number. */
type ContainerAction =
  | { readonly kind: 'exit'; readonly which: number; readonly exitCode: number; readonly reason?: string }
  /** Makes the OOM killer kill the main process of a container or, with `child`, one of its children. */
  | { readonly kind: 'oom'; readonly which: number; readonly child: boolean }
  /**
   * Makes the system run out of memory. The OOM killer kills the main process of a container, or cron if there is none.
   */
  | { readonly kind: 'systemOom'; readonly which: number }
  | { readonly kind: 'killSandbox' | 'removeSandbox'; readonly which: number };

type RuntimeAction =
  | ({ readonly kind: 'runtimeDown' } & RuntimeRestart)
  /** For `forMs`, the runtime stops responding, its network is down, or it has no free addresses. */
  | { readonly kind: 'stall' | 'networkDown' | 'noAddresses'; readonly forMs: number }
  | { readonly kind: 'lists'; readonly show: 'stale' | 'shuffled'; readonly forMs: number }
  | { readonly kind: 'events'; readonly delivery: EventFault; readonly forMs: number }
  | { readonly kind: 'registryDown'; readonly images: readonly string[]; readonly forMs: number }
  | { readonly kind: 'loseImage'; readonly image: string }
  /** Fills the image filesystem with other files for `forMs`. */
  | { readonly kind: 'imageDiskFull'; readonly forMs: number };

type HostAction =
  /** Makes a different agent run a pod with this UID for `forMs`, in the cgroups of the agent's own pods. */
  | { readonly kind: 'visit'; readonly uid: string; readonly forMs: number }
  /** Changes the addresses of the host. The first one is the primary address. */
  | { readonly kind: 'addresses'; readonly ips: readonly string[] }
  /** Makes the cgroups read-only for the agent for `forMs`. */
  | { readonly kind: 'cgroupsReadOnly'; readonly forMs: number }
  /** Makes a different program mount something at the path `at` in a pod's directory for `forMs`. */
  | { readonly kind: 'mountForeign'; readonly which: number; readonly at: string; readonly forMs: number }
  | { readonly kind: 'disk'; readonly fault: DiskFault; readonly forMs: number }
  | { readonly kind: 'watches'; readonly fault: WatchFault; readonly forMs: number }
  /** Makes this share of the calls to a target fail, from 0 to 1. */
  | { readonly kind: 'flaky'; readonly target: CallTarget; readonly share: number; readonly forMs: number }
  | { readonly kind: 'jump'; readonly ms: number }
  /** Stops the agent gracefully, with or without draining its pods, and starts it again after `downMs`. */
  | { readonly kind: 'stopAgent'; readonly drains: boolean; readonly downMs: number }
  | { readonly kind: 'killAgent' | 'powerCut'; readonly downMs: number };

/** Actions on a node of a cluster. `pod` as a string is the full name of a pod. */
export type ClusterAction =
  /**
   * Creates a pod that is bound to the node, after its resource claims have been allocated and reserved for it. Does
   * nothing if a pod with this name exists.
   */
  | { readonly kind: 'createPod'; readonly pod: Manifest }
  /** Connects a DRA driver, which first registers if necessary, or breaks its connection. */
  | { readonly kind: 'connectDriver' | 'disconnectDriver'; readonly driver: string }
  /** Deletes a pod. A grace period of 0 removes it from the API server immediately. */
  | { readonly kind: 'deletePod'; readonly pod: string; readonly graceSeconds?: number }
  /** Force-deletes a pod and creates a new one with the same name. */
  | { readonly kind: 'replacePod'; readonly pod: Manifest }
  | { readonly kind: 'labelPod'; readonly pod: string; readonly labels: Readonly<Record<string, string>> }
  /**
   * Makes a controller set the phase of the pod to Failed, as the pod garbage collector does for pods of lost nodes.
   */
  | { readonly kind: 'failPod'; readonly pod: string }
  | { readonly kind: 'setImage'; readonly pod: string; readonly container: string; readonly image: string }
  /** Creates or updates a ConfigMap, Secret or ClusterTrustBundle. An immutable object does not change. */
  | { readonly kind: 'putObject'; readonly object: ApiObject }
  | { readonly kind: 'deleteObject'; readonly of: ObjectKind; readonly name: string }
  /** Deletes an object and creates a new one with the same name. */
  | { readonly kind: 'remakeObject'; readonly object: ApiObject }
  /** Breaks a part of the API server for `forMs`. */
  | { readonly kind: 'apiPart'; readonly part: ApiPart; readonly how: ApiPartFault; readonly forMs: number }
  /** Makes the API server unreachable for `forMs`. */
  | { readonly kind: 'apiAway'; readonly how: ApiOutage; readonly forMs: number }
  /** Makes the watches of the API server deliver nothing for `forMs`. */
  | { readonly kind: 'apiSilent'; readonly forMs: number }
  /** Restarts the API server. With `forgets`, no watch can resume, so clients must relist. */
  | { readonly kind: 'apiRestart'; readonly forgets: boolean };

/**
 * Makes programs other than pods use this share of a resource of the host, from 0 to 1, for `forMs`. Only nodes with
 * the `eviction` configuration react.
 */
type PressureAction = {
  readonly kind: 'pressure';
  readonly resource: HostResource;
  readonly share: number;
  readonly forMs: number;
};

/** Actions of logind. Only nodes with the `shutdown` configuration react. */
type LogindAction =
  /** Announces a shutdown of the host, or cancels it. */
  | { readonly kind: 'shutdown'; readonly isCancelled: boolean }
  /** Stops logind for `forMs`. */
  | { readonly kind: 'logindDown'; readonly forMs: number };

/** Stops the device plugin or makes one of its devices unhealthy for `forMs`. Only nodes with a plugin react. */
type DeviceAction =
  | { readonly kind: 'pluginDown'; readonly forMs: number }
  | { readonly kind: 'deviceDown'; readonly which: number; readonly forMs: number };

/** An action on the node or its surroundings. */
export type Action = NodeAction | DeviceAction | PressureAction | LogindAction | ClusterAction;
/** Actions that every node supports. */
export type NodeAction = UserAction | ContainerAction | RuntimeAction | HostAction;

export interface TimedAction {
  /** Milliseconds after the start of the story. */
  readonly at: number;
  readonly action: Action;
}

/** A fault of one call, which is identified by its index among all calls. */
export interface StoryFault {
  readonly call: number;
  readonly fault: CallFault;
}

export interface Story {
  /** Determines the order in which calls return and everything else that the story leaves open. */
  readonly seed: number;
  readonly actions: readonly TimedAction[];
  readonly faults: readonly StoryFault[];
  /** Duration until the faults end, in milliseconds. */
  readonly lastsMs: number;
  /**
   * Whether calls to the disk and the kernel may overtake each other. Otherwise they return in the order in which they
   * were made.
   */
  readonly overtakes?: boolean;
  /** Whether the node reads manifests from a URL. If undefined, it does if an action needs it. */
  readonly hasUrl?: boolean;
  /** Access of the agent to the cgroups of its host. Default: `writable`. */
  readonly cgroups?: CgroupAccess;
  /** Machine whose CPUs the node assigns to containers. If undefined, it assigns none. */
  readonly machine?: SimulatedMachine;
  /** Whether the node also assigns the memory of the machine's NUMA nodes. Default: false. */
  readonly assignsMemory?: boolean;
  /** The topology manager on that machine. If absent, its policy is none. */
  readonly topology?: { readonly policy: TopologyPolicyName; readonly isPerPod: boolean };
  /** Whether the host has a device plugin. Default: false. */
  readonly hasPlugin?: boolean;
  /** Whether the node evicts pods when its resources run short. Default: false. */
  readonly evicts?: boolean;
  /** Layout of the host's filesystems. Default: `single`. */
  readonly diskLayout?: DiskLayout;
  /** Whether the node delays the shutdown of its host. Default: false. */
  readonly followsShutdown?: boolean;
  /** Strategy of a cluster's node for detecting changes of ConfigMaps and Secrets. Default: `Watch`. */
  readonly objects?: ObjectSettings['strategy'];
}

/** Size of a random story. */
export interface StorySize {
  readonly pods: number;
  readonly actions: number;
  readonly faults: number;
  readonly lastsMs: number;
  /**
   * Share of the actions, from 0 to 1, that follow the previous action so closely that the node is still busy with it.
   */
  readonly crowdedShare?: number;
}
