/** What the kernel is told of a container: what a resize changes without the container's end. */
export interface ContainerSize {
  /** Millicores. */
  readonly cpuRequest: number;
  /** Millicores; 0 for none, as below. */
  readonly cpuLimit: number;
  /** Bytes. */
  readonly memoryLimit: number;
}
