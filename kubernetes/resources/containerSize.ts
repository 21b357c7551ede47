/** The resources of a container that a resize can change (`resourceRequirements` in `pkg/kubelet/kuberuntime/kuberuntime_manager.go`). */
export interface ContainerSize {
  /** Millicores. */
  readonly cpuRequest: number;
  /** Millicores; 0 for none, as below. */
  readonly cpuLimit: number;
  /** Bytes. */
  readonly memoryLimit: number;
  /**
   * Bytes. The kernel does not use this request, but a change of it can restart the container. Undefined if the size was
   * persisted by an agent that did not persist the request: such a request equals every other.
   */
  readonly memoryRequest?: number | undefined;
}
