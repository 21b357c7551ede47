/** Kubernetes version of the kubelet that this agent replaces. */
export const KUBERNETES_VERSION = '1.36';
