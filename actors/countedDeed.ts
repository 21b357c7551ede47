/** Actions of services that only metrics show. */

/** The outcome of a check whether a pod has to prove its right to an image (`pkg/kubelet/images/pullmanager/metrics.go`). */
export type PullCheckResult = 'credentialPolicyAllowed' | 'credentialRecordFound' | 'mustAuthenticate' | 'error';

export type CountedDeed =
  | { readonly deed: 'pullChecked'; readonly result: PullCheckResult }
  /** The numbers of files after a record of a pull, or an intent to pull, was written or removed. */
  | { readonly deed: 'pullRecordsChanged'; readonly records: number; readonly intents: number }
  | { readonly deed: 'eventStreamOpened' | 'eventStreamFailed' }
  /** `latencyMs` is the time since the runtime created the event. */
  | { readonly deed: 'runtimeEventReceived'; readonly latencyMs: number };
