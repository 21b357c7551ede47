/** The declaration of an expected difference. */
export interface Declared {
  /** The names of the recordings, e.g. `04-crash`. */
  readonly scenarios: readonly string[];
  /** Subject of the difference, e.g. `pod two`. `what` matches the difference itself. */
  readonly about: string;
  readonly what: RegExp;
}

/** Differences with a common reason. */
export interface Reason {
  readonly kubelet: string;
  readonly here: string;
  readonly why: string;
  readonly seen: readonly Declared[];
}
