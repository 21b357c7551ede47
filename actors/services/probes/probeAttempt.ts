/** The result of a single probe attempt. An attempt that throws does not indicate the state of the container. */
export interface ProbeAttempt {
  readonly result: 'success' | 'warning' | 'failure';
  readonly message: string;
}
