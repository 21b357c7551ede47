/** What happens to a node, as plain data that can be drawn, shrunk, kept and told again. */
import type { ObjectSettings } from '../../../actors/objects/clusterObjects.ts';
import type { ApiOutage } from '../cluster/apiNetwork.ts';
import type { ApiObject, ObjectKind } from '../cluster/apiObject.ts';
import type { ApiPart, PartTrouble } from '../cluster/partTroubles.ts';
import type { EventTrouble, RuntimeRestart } from '../faults/runtimeTroubles.ts';
import type { DiskTrouble, UrlTrouble } from '../faults/troubles.ts';
import type { WatchTrouble } from '../faults/watches.ts';
import type { CgroupsHere } from '../host/hostCgroups.ts';
import type { Fate, Room } from '../run/outside.ts';
import type { Spoiling } from '../users/users.ts';
import type { Manifest } from './manifests.ts';

/** Done by whoever writes manifests. */
type UserDeed =
  /** Puts a manifest there, or another in its place: in the directory, or in the list that a URL gives. */
  | { readonly kind: 'apply'; readonly pod: Manifest; readonly by?: 'url' }
  /** Writes a manifest in place: first so much of it, from 0 to 1, and the rest later. */
  | { readonly kind: 'writeInParts'; readonly pod: Manifest; readonly share: number; readonly restMs: number }
  /** Takes the manifest of a pod away; where there is none, nothing happens. */
  | { readonly kind: 'remove'; readonly pod: string }
  /** Gives the manifest of a pod another name, or puts the same pod into another file as well. */
  | { readonly kind: 'renameManifest' | 'copyManifest'; readonly pod: string; readonly file: string }
  /** Lets a pod that a URL lists have another name from the next list on. */
  | { readonly kind: 'renameListed'; readonly pod: string; readonly name: string }
  /** Writes something into the directory of manifests that is none. */
  | { readonly kind: 'scribble'; readonly file: string; readonly text: string }
  /** Spoils the file of a pod for a while: what it held goes on. */
  | { readonly kind: 'spoil'; readonly pod: string; readonly how: Spoiling; readonly forMs: number }
  | { readonly kind: 'manifestsGone'; readonly forMs: number }
  | { readonly kind: 'url'; readonly trouble: UrlTrouble; readonly forMs: number };

/** What becomes of containers and sandboxes by themselves; `which` counts all that there are, from 0 and round again. */
type ContainerDeed =
  | { readonly kind: 'exit'; readonly which: number; readonly exitCode: number; readonly reason?: string }
  /** The kernel kills the process of a container for want of memory, or one of its children. */
  | { readonly kind: 'oom'; readonly which: number; readonly child: boolean }
  | { readonly kind: 'killSandbox' | 'removeSandbox'; readonly which: number };

type RuntimeDeed =
  | ({ readonly kind: 'runtimeDown' } & RuntimeRestart)
  /** It stands still, its network is down, or it has no more addresses. */
  | { readonly kind: 'stall' | 'networkDown' | 'noAddresses'; readonly forMs: number }
  | { readonly kind: 'lists'; readonly show: 'stale' | 'shuffled'; readonly forMs: number }
  | { readonly kind: 'events'; readonly delivery: EventTrouble; readonly forMs: number }
  | { readonly kind: 'registryDown'; readonly images: readonly string[]; readonly forMs: number }
  | { readonly kind: 'loseImage'; readonly image: string };

type HostDeed =
  /** Another agent runs a pod of this UID for a while, in the cgroups that the agent's own pods are in. */
  | { readonly kind: 'visit'; readonly uid: string; readonly forMs: number }
  /** The host has these addresses from now on, the primary first. */
  | { readonly kind: 'addresses'; readonly ips: readonly string[] }
  /** The agent can change no cgroup for a while. */
  | { readonly kind: 'cgroupsReadOnly'; readonly forMs: number }
  /** Somebody else mounts something in the directory of a pod, at this path there, for a while. */
  | { readonly kind: 'mountForeign'; readonly which: number; readonly at: string; readonly forMs: number }
  | { readonly kind: 'disk'; readonly trouble: DiskTrouble; readonly forMs: number }
  | { readonly kind: 'watches'; readonly trouble: WatchTrouble; readonly forMs: number }
  /** So many of the calls to one room fail, from 0 to 1. */
  | { readonly kind: 'flaky'; readonly room: Room; readonly share: number; readonly forMs: number }
  | { readonly kind: 'jump'; readonly ms: number }
  /** The agent stops as it is asked to, after it has ended its pods or without; and starts again later. */
  | { readonly kind: 'stopAgent'; readonly drains: boolean; readonly downMs: number }
  | { readonly kind: 'killAgent' | 'powerCut'; readonly downMs: number };

/** What becomes of a node of a cluster; pods are told by their full names. */
export type ClusterDeed =
  /** Somebody makes a pod in the API, bound to the node; where there is one of its name, nothing happens. */
  | { readonly kind: 'createPod'; readonly pod: Manifest }
  /** Somebody deletes it; with a grace of 0 its object is gone at once. */
  | { readonly kind: 'deletePod'; readonly pod: string; readonly graceSeconds?: number }
  /** Somebody deletes it by force, and makes another of its name at once. */
  | { readonly kind: 'replacePod'; readonly pod: Manifest }
  | { readonly kind: 'labelPod'; readonly pod: string; readonly labels: Readonly<Record<string, string>> }
  /** Somebody else than the node says of it that it has failed, as who ends the pods of nodes that are away. */
  | { readonly kind: 'failPod'; readonly pod: string }
  | { readonly kind: 'setImage'; readonly pod: string; readonly container: string; readonly image: string }
  /** Somebody makes an object that pods may need, or changes the one there is; one that is immutable stays as it is. */
  | { readonly kind: 'putObject'; readonly object: ApiObject }
  | { readonly kind: 'deleteObject'; readonly of: ObjectKind; readonly name: string }
  /** Somebody deletes it, and makes another of its name at once. */
  | { readonly kind: 'remakeObject'; readonly object: ApiObject }
  /** Something is the matter with a part of what the API server has for pods. */
  | { readonly kind: 'apiPart'; readonly part: ApiPart; readonly how: PartTrouble; readonly forMs: number }
  /** The API server cannot be reached for a while. */
  | { readonly kind: 'apiAway'; readonly how: ApiOutage; readonly forMs: number }
  /** Its watches tell nothing for a while. */
  | { readonly kind: 'apiSilent'; readonly forMs: number }
  /** It starts anew; `forgets`: who watched has to list all again. */
  | { readonly kind: 'apiRestart'; readonly forgets: boolean };

/** What somebody does to the node, or to what it lives on. */
export type Deed = HostedDeed | ClusterDeed;
/** What can be done to every node. */
export type HostedDeed = UserDeed | ContainerDeed | RuntimeDeed | HostDeed;

export interface Moment {
  /** Milliseconds after the beginning. */
  readonly at: number;
  readonly deed: Deed;
}

/** A fault that a call meets, by its number among all calls. */
export interface Fault {
  readonly call: number;
  readonly fate: Fate;
}

export interface Story {
  /** Decides the order in which calls are answered, and whatever else the story leaves open. */
  readonly seed: number;
  readonly moments: readonly Moment[];
  readonly faults: readonly Fault[];
  /** How long it goes on before faults end, in milliseconds. */
  readonly lastsMs: number;
  /** Whether calls to the disk and the kernel overtake each other, which at other times are answered as they come. */
  readonly overtakes?: boolean;
  /** Whether there is a URL that lists manifests; absent: where a moment needs one. */
  readonly hasUrl?: boolean;
  /** What the agent can do with the cgroups of its host; absent: make and limit those of its pods. */
  readonly cgroups?: CgroupsHere;
  /** How a node of a cluster keeps what its pods name up to date; absent: it watches that. */
  readonly objects?: ObjectSettings['strategy'];
}

/** How much a drawn story tells. */
export interface StorySize {
  readonly pods: number;
  readonly deeds: number;
  readonly faults: number;
  /** Milliseconds. */
  readonly lastsMs: number;
  /** How much of what happens comes so soon after something else that this has not been dealt with, from 0 to 1. */
  readonly crowded?: number;
}
