/**
 * The resources of a container that a resize can change (`resourceRequirements` in
 * `pkg/kubelet/kuberuntime/kuberuntime_manager.go`).
 */
export interface ContainerSize {
  /** CPU request in millicores. */
  readonly cpuRequest: number;
  /** CPU limit in millicores. 0 means no limit. */
  readonly cpuLimit: number;
  /** Memory limit in bytes. 0 means no limit. */
  readonly memoryLimit: number;
  /**
   * Memory request in bytes. The kernel does not use it, but changing it can require a restart of the container.
   * Undefined if an older version of the agent persisted the resources. An undefined request is treated as equal to any
   * other request.
   */
  readonly memoryRequest?: number | undefined;
}
