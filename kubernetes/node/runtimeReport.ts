/** Defines the part of the runtime's report that the node's status includes. */

/** Features of a runtime handler, as in a Node's status. */
export interface RuntimeHandler {
  readonly name: string;
  readonly features: { readonly recursiveReadOnlyMounts: boolean; readonly userNamespaces: boolean };
}

/**
 * The runtime's last report about itself. As in a kubelet, all fields except `isSilent` and `seenAt` retain their last
 * values while the runtime does not respond.
 */
export interface RuntimeReport {
  /** Whether the runtime did not respond to the last request. */
  readonly isSilent?: true;
  /**
   * Time at which the runtime was last ready, regardless of its network, in milliseconds since the epoch. Undefined if
   * the runtime is ready now or has never been ready.
   */
  readonly seenAt?: number;
  /** Reason why the runtime is not ready, in the kubelet's wording. */
  readonly notReadyMessage?: string;
  /** Reason why the pod network is not ready. Undefined if it is ready. */
  readonly networkNotReady?: string;
  /** Whether the runtime is not ready only because of its network. */
  readonly lacksOnlyNetwork?: true;
  /** Runtime handlers, sorted by name. */
  readonly handlers?: readonly RuntimeHandler[];
  /** Features of the runtime. Undefined if the runtime does not report them. */
  readonly features?: { readonly supplementalGroupsPolicy: boolean };
}
