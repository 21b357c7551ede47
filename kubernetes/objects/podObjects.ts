/** What pods get of a cluster beside their own spec: the ConfigMaps and Secrets that they name, and tokens of their service accounts. */

import type { Failure } from '../../base/failure.ts';
import type { Pod } from '../api/schema/pod.ts';
import type { ConfigKind, ConfigObject } from './configObject.ts';

interface Abortable {
  readonly signal: AbortSignal;
}

export interface PodObjects {
  /**
   * The object of this name in the pod's namespace, as it was heard of last. Rejects with `ObjectNotFound` where there is
   * none, and with another error, whose message is for users, where that cannot be known yet.
   */
  get(pod: Pod, kind: ConfigKind, name: string, options: Abortable): Promise<ConfigObject>;
}

/** Knows which pods there are, so that what they name is at hand when they ask for it. */
export interface ObjectsInUse extends PodObjects {
  /** From now on, or with what it names now. */
  follow(pod: Pod): void;
  /** Nothing is left of the pod that could ask. */
  release(uid: string): void;
}

/**
 * `configmap "x" not found`, in a kubelet's words. `searched` is the manifest directory, file or URL that should have the
 * object. Undefined for an object of the cluster.
 */
export class ObjectNotFound extends Error {
  override readonly name = 'ObjectNotFound';

  constructor(kind: ConfigKind, name: string, searched?: string) {
    const where = searched === undefined ? '' : ` in ${searched}; the pod starts as soon as the ${kind} exists`;
    super(`${kind.toLowerCase()} "${name}" not found${where}`);
  }
}

/** A kubelet's words where nobody has said in time what there is. */
export const unheardOf = (kind: ConfigKind): string =>
  `failed to sync ${kind.toLowerCase()} cache: timed out waiting for the condition`;

export interface TokenRequest {
  /** Empty: the API server's own. */
  readonly audience: string;
  /** Absent: as long as the API server gives whoever does not say. */
  readonly expirationSeconds?: number;
  /** Of the service account that it is for: refused where that is another by now. Absent: whichever has the pod's name for it. */
  readonly accountUid?: string;
}

export interface PodToken {
  readonly token: string;
  /** When another should be had, in milliseconds since the epoch. */
  readonly renewAt: number;
  /** Until when this one is good, by the node's clock, in milliseconds since the epoch. */
  readonly goodUntil?: number;
  /** Why another could not be had when that was due; absent: it was not, or could be had. */
  readonly failure?: Failure | undefined;
}

export interface PodTokens {
  /** A token of the pod's service account, bound to the pod: the one that is known for as long as it is good. */
  get(pod: Pod, request: TokenRequest, options: Abortable): Promise<PodToken>;
}
