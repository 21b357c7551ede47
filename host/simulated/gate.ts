/** A call to a simulated part of the host. */
interface GatedCall {
  /** What is called, by its name in the part. */
  readonly name: string;
  /** What it concerns: a path, an address. */
  readonly about: string;
  /** Whether it changes something. */
  readonly writes: boolean;
}

/**
 * What each call passes through: it decides when `act` takes effect, if at all, and what the call comes to; `partly` does a
 * part of what can be done in part.
 */
export type Gate = <T>(call: GatedCall, act: () => T, partly?: () => void) => Promise<T>;

/** Lets every call take effect at once. */
export const openGate: Gate = async (_call, act) => act();
