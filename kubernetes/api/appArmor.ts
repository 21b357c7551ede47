import { lookUp } from '../../base/lookUp.ts';
import { containersOf } from './containers.ts';
import type { Container } from './schema/container.ts';
import type { Pod } from './schema/pod.ts';
import type { SecurityProfile } from './schema/security.ts';

/** The annotation that named a container's profile before there was a field; nobody fills in the field of a static pod. */
export const APPARMOR_ANNOTATION = 'container.apparmor.security.beta.kubernetes.io/';

/** A container's AppArmor profile: its own field, else the annotation, else the pod's field. */
export function appArmorProfileOf({ metadata, spec }: Pod, { name, securityContext }: Container) {
  const annotated = lookUp(metadata.annotations, `${APPARMOR_ANNOTATION}${name}`);
  return securityContext?.appArmorProfile ?? profileOfAnnotation(annotated) ?? spec.securityContext?.appArmorProfile;
}

/** What an annotation's value names; undefined when it names nothing. */
export function profileOfAnnotation(value = ''): SecurityProfile | undefined {
  if (value === 'runtime/default') return { type: 'RuntimeDefault' };
  if (value === 'unconfined') return { type: 'Unconfined' };
  const name = value.startsWith('localhost/') ? value.slice('localhost/'.length) : '';
  return name === '' ? undefined : { type: 'Localhost', localhostProfile: name };
}

/** Whether any container of a pod is to be confined by AppArmor. */
export function needsAppArmor(pod: Pod): boolean {
  return containersOf(pod.spec).some(({ container }) => {
    const profile = appArmorProfileOf(pod, container);
    return profile !== undefined && profile.type !== 'Unconfined';
  });
}
