import { lookUp } from '../../base/values/lookUp.ts';
import { containersOf } from './pods/containers.ts';
import type { Container } from './schema/container.ts';
import type { Pod } from './schema/pod.ts';
import type { SecurityProfile } from './schema/security.ts';

/**
 * Prefix of the annotation that selected a container's profile before the `appArmorProfile` field existed. A static pod
 * may still have only the annotation, because no API server copies it to the field.
 */
export const APPARMOR_ANNOTATION = 'container.apparmor.security.beta.kubernetes.io/';

/**
 * Returns a container's AppArmor profile. The container's own field takes precedence over the annotation, and the
 * annotation over the pod's field.
 */
export function appArmorProfileOf({ metadata, spec }: Pod, { name, securityContext }: Container) {
  const annotation = lookUp(metadata.annotations, `${APPARMOR_ANNOTATION}${name}`);
  return (
    securityContext?.appArmorProfile ?? parseProfileAnnotation(annotation) ?? spec.securityContext?.appArmorProfile
  );
}

/** Returns the profile that an annotation's value selects, or undefined if the value is invalid. */
export function parseProfileAnnotation(value = ''): SecurityProfile | undefined {
  if (value === 'runtime/default') return { type: 'RuntimeDefault' };
  if (value === 'unconfined') return { type: 'Unconfined' };
  const name = value.startsWith('localhost/') ? value.slice('localhost/'.length) : '';
  return name === '' ? undefined : { type: 'Localhost', localhostProfile: name };
}

/** Whether any container of a pod must be confined by AppArmor. */
export function needsAppArmor(pod: Pod): boolean {
  return containersOf(pod.spec).some(({ container }) => {
    const profile = appArmorProfileOf(pod, container);
    return profile !== undefined && profile.type !== 'Unconfined';
  });
}
