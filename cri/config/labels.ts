/**
 * Defines the labels and annotations that the kubelet writes on sandboxes and containers. Log collectors, crictl and
 * cAdvisor read them.
 */
import { lookUp } from '../../base/lookUp.ts';
import type { Container } from '../generated/runtime.ts';

/** Label with the name of a sandbox's or container's pod. The agent ignores sandboxes without the UID label below. */
export const POD_NAME_LABEL = 'io.kubernetes.pod.name';
export const POD_NAMESPACE_LABEL = 'io.kubernetes.pod.namespace';
export const POD_UID_LABEL = 'io.kubernetes.pod.uid';
export const CONTAINER_NAME_LABEL = 'io.kubernetes.container.name';

/** Returns the name of a container in its pod, or its name in the runtime if the label is missing. */
export const containerNameOf = ({ labels, metadata }: Pick<Container, 'labels' | 'metadata'>): string =>
  lookUp(labels, CONTAINER_NAME_LABEL) ?? metadata?.name ?? '';

/** Annotations on containers that the agent reads when the pod is no longer known. */
export const CONTAINER_HASH = 'io.kubernetes.container.hash';
export const RESTART_COUNT = 'io.kubernetes.container.restartCount';
export const TERMINATION_MESSAGE_PATH = 'io.kubernetes.container.terminationMessagePath';
export const TERMINATION_MESSAGE_POLICY = 'io.kubernetes.container.terminationMessagePolicy';
export const PRE_STOP_HANDLER = 'io.kubernetes.container.preStopHandler';
export const CONTAINER_PORTS = 'io.kubernetes.container.ports';
export const POD_GRACE_PERIOD = 'io.kubernetes.pod.terminationGracePeriod';
export const POD_DELETION_GRACE_PERIOD = 'io.kubernetes.pod.deletionGracePeriod';

/** Annotation on sandboxes that identifies the agent that created the sandbox. See `ownerMark`. */
export const OWNER = 'statelet.io/owner';

/** Returns the value of the owner annotation, which consists of the agent's root directory and the node's name. */
export function ownerMark(rootDir: string, nodeName: string): string {
  return `${rootDir}@${nodeName}`;
}

/**
 * Returns the node's name in an owner annotation, or undefined if the annotation is from an agent with a different root
 * directory.
 */
export function nodeNameInMark(mark: string | undefined, rootDir: string): string | undefined {
  return mark?.startsWith(`${rootDir}@`) ? mark.slice(rootDir.length + 1) : undefined;
}
