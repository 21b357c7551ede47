/** How a difference is declared. */
export interface Declared {
  /** Of the recordings: `04-crash`. */
  readonly scenarios: readonly string[];
  /** As the comparison has it: `pod two`, and which of its differences. */
  readonly about: string;
  readonly what: RegExp;
}

/** Differences that have one reason. */
export interface Reason {
  readonly kubelet: string;
  readonly here: string;
  readonly why: string;
  readonly seen: readonly Declared[];
}
