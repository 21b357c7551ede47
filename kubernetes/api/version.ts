/** Version of Kubernetes whose kubelet this agent replaces. */
export const KUBERNETES_VERSION = '1.36';
