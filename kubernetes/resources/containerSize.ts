/**
 * The resources of a container that a resize can change (`resourceRequirements` in
 * `pkg/kubelet/kuberuntime/kuberuntime_manager.go`).
 */
export interface ContainerSize {
  /** Millicores. */
  readonly cpuRequest: number;
  /** Millicores. 0 means no limit, also for memory. */
  readonly cpuLimit: number;
  /** Bytes. */
  readonly memoryLimit: number;
  /**
   * Bytes. The kernel does not use the request, but a change of it can require a restart of the container. Undefined if
   * an older agent persisted the size. An undefined request counts as equal to any other.
   */
  readonly memoryRequest?: number | undefined;
}
