import { NodeFailure } from '../../base/failure.ts';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { Image } from '../generated/runtime.ts';

/** User that an image runs as: a UID, or a name that only the image can resolve. */
export type ImageUser = { readonly uid: bigint } | { readonly username: string };

/** Returns the user of an image. An image without a user runs as root. */
export function imageUser({ uid, username }: Image): ImageUser {
  if (uid) return { uid: uid.value };
  return username ? { username } : { uid: 0n };
}

/**
 * Returns the reason why runAsNonRoot does not allow a container to run, or undefined if it may run. If the pod sets no
 * user, the user of the image applies.
 */
export function checkRunAsNonRoot(pod: Pod, container: Container, image: ImageUser): NodeFailure | undefined {
  const effectiveContext = { ...pod.spec.securityContext, ...container.securityContext };
  if (!effectiveContext.runAsNonRoot) return undefined;
  const violationMessage = runAsNonRootViolation(effectiveContext.runAsUser, image);
  if (violationMessage === undefined) return undefined;
  const { name, namespace, uid } = pod.metadata;
  const containerDescription = `(pod: "${name}_${namespace}(${uid})", container: ${container.name})`;
  return new NodeFailure('CreateContainerConfigError', `${violationMessage} ${containerDescription}`);
}

function runAsNonRootViolation(runAsUser: number | undefined, image: ImageUser): string | undefined {
  if (runAsUser !== undefined) {
    return runAsUser === 0 ? "container's runAsUser breaks non-root policy" : undefined;
  }
  if ('username' in image) {
    return `container has runAsNonRoot and image has non-numeric user (${image.username}), cannot verify user is non-root`;
  }
  return image.uid === 0n ? 'container has runAsNonRoot and image will run as root' : undefined;
}
