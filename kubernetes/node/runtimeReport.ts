/** Defines the parts of the runtime's report about itself that the node's status includes. */

/** Features of a runtime handler, as in a Node's status. */
export interface RuntimeHandler {
  readonly name: string;
  readonly features: { readonly recursiveReadOnlyMounts: boolean; readonly userNamespaces: boolean };
}

/**
 * The runtime's last report. While the runtime does not respond, all fields except `isSilent` and `seenAt` retain their
 * last values, as in a kubelet.
 */
export interface RuntimeReport {
  /** Whether the runtime did not respond to the last request. */
  readonly isSilent?: true;
  /**
   * When the runtime (regardless of its network) was last ready, in milliseconds since the epoch. Undefined if it is
   * ready now or has not been ready yet.
   */
  readonly seenAt?: number;
  /** Why the runtime is not ready, in the kubelet's words. */
  readonly notReadyMessage?: string;
  /** Why the pod network is not ready. Undefined while it is ready. */
  readonly networkNotReady?: string;
  /** Whether the network is the only reason for not being ready. */
  readonly lacksOnlyNetwork?: true;
  /** Handlers in order of their names. */
  readonly handlers?: readonly RuntimeHandler[];
  /** Undefined if the runtime does not report its features. */
  readonly features?: { readonly supplementalGroupsPolicy: boolean };
}
