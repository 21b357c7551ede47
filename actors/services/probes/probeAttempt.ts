/** The result of a single probe attempt. An attempt that throws says nothing about the container. */
export interface ProbeAttempt {
  readonly result: 'success' | 'warning' | 'failure';
  readonly message: string;
}
