/** A call to a simulated component of the host. */
interface GatedOperation {
  readonly name: string;
  /** Object of the operation, e.g. a path or an address. */
  readonly about: string;
  /** Whether the operation modifies the state of the host. */
  readonly writes: boolean;
}

/**
 * Controls a call to the host. The gate decides whether and when `act` takes effect, and what the call returns.
 * `partly` performs only a part of an operation that can be interrupted.
 */
export type Gate = <T>(call: GatedOperation, act: () => T, partly?: () => void) => Promise<T>;

/** Executes every call immediately. */
export const openGate: Gate = async (_call, act) => act();
