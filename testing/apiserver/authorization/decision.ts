export interface Decision {
  readonly isAllowed: boolean;
  /** The reason for a denial. Empty if allowed or if there is no reason. */
  readonly reason: string;
}
