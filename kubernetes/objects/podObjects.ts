/** Defines access to the cluster objects that pods use: ConfigMaps, Secrets and service account tokens. */

import type { Failure } from '../../base/failure.ts';
import type { Pod } from '../api/schema/pod.ts';
import type { ConfigKind, ConfigObject } from './configObject.ts';

interface CallOptions {
  readonly signal: AbortSignal;
}

export interface PodObjects {
  /**
   * Returns the latest version that the node has of the object in the pod's namespace. Rejects with `ObjectNotFound` if
   * the object does not exist. Rejects with another error, whose message is for users, if the node cannot tell yet
   * whether it exists.
   */
  get(pod: Pod, kind: ConfigKind, name: string, options: CallOptions): Promise<ConfigObject>;
}

/** Tracks the pods of the node in order to prefetch the objects that they reference. */
export interface ObjectsInUse extends PodObjects {
  /** Tracks a new pod, or the changed references of a tracked one. */
  follow(pod: Pod): void;
  /** Stops tracking a pod that has been removed. */
  release(uid: string): void;
}

/**
 * Error with the kubelet's message, e.g. `configmap "x" not found`. `searched` is the manifest directory, file or URL
 * that should contain the object. It is undefined for an object of the cluster.
 */
export class ObjectNotFound extends Error {
  override readonly name = 'ObjectNotFound';

  constructor(kind: ConfigKind, name: string, searched?: string) {
    const searchedNote = searched === undefined ? '' : ` in ${searched}; the pod starts as soon as the ${kind} exists`;
    super(`${kind.toLowerCase()} "${name}" not found${searchedNote}`);
  }
}

/** Returns the kubelet's message for an object that was not received in time. */
export const cacheSyncTimeout = (kind: ConfigKind): string =>
  `failed to sync ${kind.toLowerCase()} cache: timed out waiting for the condition`;

export interface TokenRequest {
  /** Empty for the audience of the API server. */
  readonly audience: string;
  /** Undefined for the API server's default lifetime. */
  readonly expirationSeconds?: number;
  /**
   * UID of the service account. The request is refused if the name now belongs to a different account. If undefined,
   * any account with the name in the pod's spec is accepted.
   */
  readonly accountUid?: string;
}

export interface PodToken {
  readonly token: string;
  /** When to request the next token, in milliseconds since the epoch. */
  readonly renewAt: number;
  /** When the token expires by the node's clock, in milliseconds since the epoch. */
  readonly goodUntil?: number;
  /** Why the last renewal failed. Undefined if none was due or it succeeded. */
  readonly failure?: Failure | undefined;
}

export interface PodTokens {
  /**
   * Returns a token of the pod's service account that is bound to the pod. A cached token is reused while it is valid.
   */
  get(pod: Pod, request: TokenRequest, options: CallOptions): Promise<PodToken>;
}
