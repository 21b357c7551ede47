/** Defines how pods access cluster objects, i.e. ConfigMaps, Secrets and service account tokens. */

import type { Failure } from '../../base/failure.ts';
import type { Pod } from '../api/schema/pod.ts';
import type { ConfigKind, ConfigObject } from './configObject.ts';

interface CallOptions {
  readonly signal: AbortSignal;
}

export interface PodObjects {
  /**
   * Returns the node's latest version of an object in the pod's namespace. Rejects with `ObjectNotFound` if the object
   * does not exist. Rejects with a different error, whose message is for users, if the node does not yet know whether
   * the object exists.
   */
  get(pod: Pod, kind: ConfigKind, name: string, options: CallOptions): Promise<ConfigObject>;
}

/** Tracks the pods of the node, so that the objects that they reference can be fetched in advance. */
export interface ObjectsInUse extends PodObjects {
  /** Starts tracking a pod, or updates the references of a pod that is already tracked. */
  follow(pod: Pod): void;
  /** Stops tracking a pod that has been removed. */
  release(uid: string): void;
}

/**
 * Error with the kubelet's message, e.g. `configmap "x" not found`. `searched` is the manifest directory, file or URL
 * that should contain the object, and is undefined for an object of the cluster.
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
  /** Audience of the token. Empty for the API server's audience. */
  readonly audience: string;
  /** Lifetime of the token in seconds. Undefined for the API server's default. */
  readonly expirationSeconds?: number;
  /**
   * UID of the service account. If a different account now has the name, the request is refused. If undefined, any
   * account with the name in the pod's spec is accepted.
   */
  readonly accountUid?: string;
}

export interface PodToken {
  readonly token: string;
  /** Time at which to request the next token, in milliseconds since the epoch. */
  readonly renewAt: number;
  /** Expiry of the token according to the node's clock, in milliseconds since the epoch. */
  readonly goodUntil?: number;
  /** Reason why the last renewal failed. Undefined if it succeeded or none has been due. */
  readonly failure?: Failure | undefined;
}

export interface PodTokens {
  /** Returns a token of the pod's service account that is bound to the pod. Reuses a cached token while it is valid. */
  get(pod: Pod, request: TokenRequest, options: CallOptions): Promise<PodToken>;
}
