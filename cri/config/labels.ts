/**
 * Defines the labels and annotations that the kubelet writes on sandboxes and containers. Log collectors, crictl and
 * cAdvisor read them.
 */
import { lookUp } from '../../base/values/lookUp.ts';
import type { Container, Mount } from '../generated/runtime.ts';

/**
 * Label with the name of the pod to which a sandbox or container belongs. The agent ignores sandboxes without the label
 * `io.kubernetes.pod.uid`.
 */
export const POD_NAME_LABEL = 'io.kubernetes.pod.name';
export const POD_NAMESPACE_LABEL = 'io.kubernetes.pod.namespace';
export const POD_UID_LABEL = 'io.kubernetes.pod.uid';
export const CONTAINER_NAME_LABEL = 'io.kubernetes.container.name';

/** Returns the name of a container in its pod, or its name in the runtime if the label is missing. */
export const labeledContainerName = ({ labels, metadata }: Pick<Container, 'labels' | 'metadata'>): string =>
  lookUp(labels, CONTAINER_NAME_LABEL) ?? metadata?.name ?? '';

/**
 * Annotations on containers, from which the agent reads the settings of a container when it no longer knows the pod.
 */
export const CONTAINER_HASH_ANNOTATION = 'io.kubernetes.container.hash';
export const RESTART_COUNT_ANNOTATION = 'io.kubernetes.container.restartCount';
export const TERMINATION_MESSAGE_PATH_ANNOTATION = 'io.kubernetes.container.terminationMessagePath';
export const TERMINATION_MESSAGE_POLICY_ANNOTATION = 'io.kubernetes.container.terminationMessagePolicy';
export const PRE_STOP_HANDLER_ANNOTATION = 'io.kubernetes.container.preStopHandler';
export const CONTAINER_PORTS_ANNOTATION = 'io.kubernetes.container.ports';
export const POD_GRACE_PERIOD_ANNOTATION = 'io.kubernetes.pod.terminationGracePeriod';
export const POD_DELETION_GRACE_PERIOD_ANNOTATION = 'io.kubernetes.pod.deletionGracePeriod';

/** Annotation on sandboxes that identifies the agent that created the sandbox. See `ownerAnnotation`. */
export const OWNER_ANNOTATION = 'statelet.io/owner';

/**
 * Annotation with the references of the images that a container mounts, separated by commas. The annotation is needed
 * because lists of containers do not include mounts.
 */
export const MOUNTED_IMAGES_ANNOTATION = 'statelet.io/mounted-images';

/** Returns the value of the mounted-images annotation for a container with these mounts. */
export const mountedImagesAnnotation = (mounts: readonly Mount[]): string => imagesOf(mounts).join();

/** Returns the references of the images in a container's mounts. */
export const imagesOf = (mounts: readonly Mount[]): string[] =>
  mounts.flatMap(({ image }) => (image ? [image.image] : []));

/**
 * Returns the images that a listed container mounts. Undefined if the container was created by a program that does not
 * write the annotation.
 */
export function annotatedImages({ annotations }: Pick<Container, 'annotations'>): readonly string[] | undefined {
  return lookUp(annotations, MOUNTED_IMAGES_ANNOTATION)
    ?.split(',')
    .filter((image) => image !== '');
}

/** Returns the value of the owner annotation, which consists of the agent's root directory and the node's name. */
export function ownerAnnotation(rootDir: string, nodeName: string): string {
  return `${rootDir}@${nodeName}`;
}

/**
 * Returns the node's name in an owner annotation, or undefined if the annotation is from an agent with a different root
 * directory.
 */
export function nodeNameFromOwner(owner: string | undefined, rootDir: string): string | undefined {
  return owner?.startsWith(`${rootDir}@`) ? owner.slice(rootDir.length + 1) : undefined;
}
