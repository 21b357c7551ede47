/** The version of Kubernetes whose kubelet this agent stands in for. */
export const KUBERNETES_VERSION = '1.36';
