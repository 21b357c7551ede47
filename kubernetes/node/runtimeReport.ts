/** What a runtime says of itself, as far as the status of its node tells it. */

/** What a handler of the runtime can do, as a Node lists it. */
export interface RuntimeHandler {
  readonly name: string;
  readonly features: { readonly recursiveReadOnlyMounts: boolean; readonly userNamespaces: boolean };
}

/** What it said last; while it does not answer all but `isSilent` and `seenAt` holds, as in a kubelet. */
export interface RuntimeReport {
  /** It did not answer when it was asked last. */
  readonly isSilent?: true;
  /** When it was last ready beside its network, in milliseconds since the epoch; absent: it is, or has not been yet. */
  readonly seenAt?: number;
  /** Why it is not ready, in the kubelet's words. */
  readonly notReady?: string;
  /** Absent while it has a network for pods. */
  readonly networkNotReady?: string;
  /** It is not ready for that alone. */
  readonly lacksOnlyNetwork?: true;
  /** By their names. */
  readonly handlers?: readonly RuntimeHandler[];
  /** Absent of a runtime that does not tell them. */
  readonly features?: { readonly supplementalGroupsPolicy: boolean };
}
