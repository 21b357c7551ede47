/** Statistics of a relist of the PLEG. */
export interface Relist {
  /** Start time in milliseconds since the epoch. */
  readonly at: number;
  /** Duration, including the status calls of single containers. */
  readonly ms: number;
  /** Time between the starts of the previous relist and this one. Undefined for the first. */
  readonly sinceLastMs?: number;
  /** Whether the runtime has responded. */
  readonly isAnswered: boolean;
}
