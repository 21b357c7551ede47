/** A list of all that the runtime has, as the PLEG makes them. */
export interface Relist {
  /** When it began, in milliseconds since the epoch. */
  readonly at: number;
  /** How long it took, with what was asked of single containers for it. */
  readonly ms: number;
  /** From the beginning of the list before it to its own; absent of the first. */
  readonly sinceLastMs?: number;
  /** Whether the runtime answered. */
  readonly isAnswered: boolean;
}
