/**
 * Defines the actions of services that the metrics count, because they are not visible in any status or recorded event.
 */

/**
 * The outcome of checking whether a pod must prove its access to an image
 * (`pkg/kubelet/images/pullmanager/metrics.go`).
 */
export type PullCheckResult = 'credentialPolicyAllowed' | 'credentialRecordFound' | 'mustAuthenticate' | 'error';

export type ServiceAction =
  | { readonly action: 'pullChecked'; readonly result: PullCheckResult }
  /** The numbers of record files and intent files after one of them was written or removed. */
  | { readonly action: 'pullRecordsChanged'; readonly records: number; readonly intents: number }
  /** An unused image was removed, because of its age or in order to free space. */
  | { readonly action: 'imageCollected'; readonly reason: 'age' | 'space' }
  /** A device plugin has requested to register a resource, even if the node has rejected the request. */
  | { readonly action: 'devicePluginRegistered'; readonly resource: string }
  /** The usage of a volume was measured, or the measurement failed. */
  | { readonly action: 'volumeMeasured'; readonly ms: number }
  /** A DRA driver was called. `code` is the name of the gRPC status code. */
  | {
      readonly action: 'driverCalled';
      readonly driver: string;
      readonly method: string;
      readonly code: string;
      readonly ms: number;
    }
  | { readonly action: 'eventStreamOpened' | 'eventStreamFailed' }
  /** `latencyMs` is the time since the runtime created the event. */
  | { readonly action: 'runtimeEventReceived'; readonly latencyMs: number };
