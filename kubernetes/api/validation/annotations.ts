/** Checks of the annotations that mean something for a pod (`ValidatePodSpecificAnnotations` of `core/validation`). */
import { lookUp } from '../../../base/lookUp.ts';
import { APPARMOR_ANNOTATION } from '../appArmor.ts';
import { containersOf } from '../containers.ts';
import type { Problem } from '../problem.ts';
import type { Pod, PodSpec } from '../schema/pod.ts';
import type { SecurityProfile } from '../schema/security.ts';
import { forbidden, invalid, pathInVolume } from './words.ts';

const PATH = 'metadata.annotations';
const MIRROR = 'kubernetes.io/config.mirror';
const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';
const SECCOMP_OF_POD = 'seccomp.security.alpha.kubernetes.io/pod';
const SECCOMP_OF_CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/';

export function validatePodAnnotations({ metadata: { annotations = {} }, spec }: Pod): Problem[] {
  const containers = new Set(containersOf(spec).map(({ container }) => container.name));
  return [
    ...validateMirror(annotations, spec),
    ...validateDeletionCost(lookUp(annotations, DELETION_COST)),
    ...Object.entries(annotations).flatMap(([key, value]) => validateSeccompAnnotation(key, value)),
    ...Object.entries(annotations).flatMap(([key, value]) => validateAppArmorAnnotation(key, value, containers)),
  ];
}

function validateMirror(annotations: Readonly<Record<string, string>>, { nodeName = '' }: PodSpec): Problem[] {
  const value = lookUp(annotations, MIRROR);
  if (value === undefined || nodeName !== '') return [];
  return [invalid(`${PATH}[${MIRROR}]`, value, 'must set spec.nodeName if mirror pod annotation is set')];
}

/** An integer without a plus sign or leading zeros (`GetDeletionCostFromPodAnnotations`). */
function validateDeletionCost(value: string | undefined): Problem[] {
  if (value === undefined) return [];
  const isInteger = /^(0|-?[1-9][0-9]*)$/.test(value);
  const isSmall = isInteger && BigInt.asIntN(32, BigInt(value)) === BigInt(value);
  return isSmall ? [] : [invalid(`${PATH}[${DELETION_COST}]`, value, 'must be a 32bit integer')];
}

/** Kubernetes writes the key after a dot here. */
function validateSeccompAnnotation(key: string, value: string): Problem[] {
  if (key !== SECCOMP_OF_POD && !key.startsWith(SECCOMP_OF_CONTAINER)) return [];
  const path = `${PATH}.${key}`;
  if (['runtime/default', 'docker/default', 'unconfined'].includes(value)) return [];
  if (value.startsWith('localhost/')) return pathInVolume(path, value.slice('localhost/'.length));
  return [invalid(path, value, 'must be a valid seccomp profile')];
}

function validateAppArmorAnnotation(key: string, value: string, containers: ReadonlySet<string>): Problem[] {
  if (!key.startsWith(APPARMOR_ANNOTATION)) return [];
  const path = `${PATH}[${key}]`;
  const name = key.slice(APPARMOR_ANNOTATION.length);
  const isKnown = ['', 'runtime/default', 'unconfined'].includes(value) || value.startsWith('localhost/');
  return [
    ...(containers.has(name) ? [] : [invalid(path, name, 'container not found')]),
    ...(isKnown ? [] : [invalid(path, value, `invalid AppArmor profile name: ${JSON.stringify(value)}`)]),
  ];
}

/** Checks that annotations of seccomp and AppArmor say the same as the fields that took their place. */
export function validateProfileAnnotations({ metadata: { annotations = {} }, spec }: Pod): Problem[] {
  const { securityContext: ofPod, os } = spec;
  const placed = containersOf(spec);
  const seccompOfPod = mismatch(
    'seccomp',
    lookUp(annotations, SECCOMP_OF_POD),
    ofPod?.seccompProfile,
    'spec.securityContext.seccompProfile',
  );
  const seccomp = placed.flatMap(({ container, field, index }) =>
    mismatch(
      'seccomp',
      lookUp(annotations, `${SECCOMP_OF_CONTAINER}${container.name}`),
      container.securityContext?.seccompProfile,
      `spec.${field}[${index}].securityContext.seccompProfile`,
    ),
  );
  if (os?.name === 'windows') return [...seccompOfPod, ...seccomp];
  const appArmor = placed.flatMap(({ container, field, index }) =>
    mismatch(
      'apparmor',
      lookUp(annotations, `${APPARMOR_ANNOTATION}${container.name}`),
      container.securityContext?.appArmorProfile ?? ofPod?.appArmorProfile,
      `spec.${field}[${index}].securityContext.appArmorProfile`,
    ),
  );
  return [...seccompOfPod, ...seccomp, ...appArmor];
}

function mismatch(
  kind: 'seccomp' | 'apparmor',
  annotation: string | undefined,
  profile: SecurityProfile | undefined,
  path: string,
): Problem[] {
  if (annotation === undefined || profile === undefined) return [];
  const otherType = [forbidden(`${path}.type`, `${kind} type in annotation and field must match`)];
  const defaults = ['runtime/default', ...(kind === 'seccomp' ? ['docker/default'] : [])];
  switch (profile.type) {
    case 'Unconfined':
      return annotation === 'unconfined' ? [] : otherType;
    case 'RuntimeDefault':
      return defaults.includes(annotation) ? [] : otherType;
    case 'Localhost': {
      if (!annotation.startsWith('localhost/')) return otherType;
      const isSame = annotation === `localhost/${profile.localhostProfile}`;
      const why = `${kind} profile in annotation and field must match`;
      return isSame ? [] : [forbidden(`${path}.localhostProfile`, why)];
    }
  }
}
