/** Whether somebody may do something. */
export interface Decision {
  readonly isAllowed: boolean;
  /** Why not; empty: it is allowed, or nobody says. */
  readonly reason: string;
}
