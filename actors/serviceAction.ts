/** Actions of services that the metrics count, because neither a status nor a recorded event shows them. */

/** The outcome of a check whether a pod has to prove its right to an image (`pkg/kubelet/images/pullmanager/metrics.go`). */
export type PullCheckResult = 'credentialPolicyAllowed' | 'credentialRecordFound' | 'mustAuthenticate' | 'error';

export type ServiceAction =
  | { readonly action: 'pullChecked'; readonly result: PullCheckResult }
  /** The numbers of files after a record of a pull, or an intent to pull, was written or removed. */
  | { readonly action: 'pullRecordsChanged'; readonly records: number; readonly intents: number }
  /** The usage of a volume was measured, or could not be. */
  | { readonly action: 'volumeMeasured'; readonly ms: number }
  | { readonly action: 'eventStreamOpened' | 'eventStreamFailed' }
  /** `latencyMs` is the time since the runtime created the event. */
  | { readonly action: 'runtimeEventReceived'; readonly latencyMs: number };
