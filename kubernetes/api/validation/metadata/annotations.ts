/** Validates the annotations that have a meaning for pods (`ValidatePodSpecificAnnotations` of `core/validation`). */
import { lookUp } from '../../../../base/values/lookUp.ts';
import { APPARMOR_ANNOTATION } from '../../appArmor.ts';
import { containersOf } from '../../pods/containers.ts';
import type { Problem } from '../../problem.ts';
import type { Pod, PodSpec } from '../../schema/pod.ts';
import type { SecurityProfile } from '../../schema/security.ts';
import { forbidden, invalid, validatePathInVolume } from '../words.ts';

const ANNOTATIONS_PATH = 'metadata.annotations';
const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';
const DELETION_COST_ANNOTATION = 'controller.kubernetes.io/pod-deletion-cost';
const POD_SECCOMP_ANNOTATION = 'seccomp.security.alpha.kubernetes.io/pod';
const CONTAINER_SECCOMP_PREFIX = 'container.seccomp.security.alpha.kubernetes.io/';

export function validatePodAnnotations({ metadata: { annotations = {} }, spec }: Pod): Problem[] {
  const containers = new Set(containersOf(spec).map(({ container }) => container.name));
  return [
    ...validateMirror(annotations, spec),
    ...validateDeletionCost(lookUp(annotations, DELETION_COST_ANNOTATION)),
    ...Object.entries(annotations).flatMap(([key, value]) => validateSeccompAnnotation(key, value)),
    ...Object.entries(annotations).flatMap(([key, value]) => validateAppArmorAnnotation(key, value, containers)),
  ];
}

function validateMirror(annotations: Readonly<Record<string, string>>, { nodeName = '' }: PodSpec): Problem[] {
  const value = lookUp(annotations, MIRROR_ANNOTATION);
  if (value === undefined || nodeName !== '') return [];
  return [
    invalid(
      `${ANNOTATIONS_PATH}[${MIRROR_ANNOTATION}]`,
      value,
      'must set spec.nodeName if mirror pod annotation is set',
    ),
  ];
}

/**
 * Checks that a deletion cost is a 32-bit integer in canonical form, without a plus sign or leading zeros
 * (`GetDeletionCostFromPodAnnotations`).
 */
function validateDeletionCost(value: string | undefined): Problem[] {
  if (value === undefined) return [];
  const isInteger = /^(0|-?[1-9][0-9]*)$/.test(value);
  const isInt32 = isInteger && BigInt.asIntN(32, BigInt(value)) === BigInt(value);
  return isInt32 ? [] : [invalid(`${ANNOTATIONS_PATH}[${DELETION_COST_ANNOTATION}]`, value, 'must be a 32bit integer')];
}

/**
 * Checks a seccomp annotation. As in Kubernetes's message, the key in the path follows a dot instead of being in
 * brackets.
 */
function validateSeccompAnnotation(key: string, value: string): Problem[] {
  if (key !== POD_SECCOMP_ANNOTATION && !key.startsWith(CONTAINER_SECCOMP_PREFIX)) return [];
  const path = `${ANNOTATIONS_PATH}.${key}`;
  if (['runtime/default', 'docker/default', 'unconfined'].includes(value)) return [];
  if (value.startsWith('localhost/')) return validatePathInVolume(path, value.slice('localhost/'.length));
  return [invalid(path, value, 'must be a valid seccomp profile')];
}

function validateAppArmorAnnotation(key: string, value: string, containers: ReadonlySet<string>): Problem[] {
  if (!key.startsWith(APPARMOR_ANNOTATION)) return [];
  const path = `${ANNOTATIONS_PATH}[${key}]`;
  const name = key.slice(APPARMOR_ANNOTATION.length);
  const isKnownProfile = ['', 'runtime/default', 'unconfined'].includes(value) || value.startsWith('localhost/');
  return [
    ...(containers.has(name) ? [] : [invalid(path, name, 'container not found')]),
    ...(isKnownProfile ? [] : [invalid(path, value, `invalid AppArmor profile name: ${JSON.stringify(value)}`)]),
  ];
}

/** Checks that the seccomp and AppArmor annotations match the fields that have replaced them. */
export function validateProfileAnnotations({ metadata: { annotations = {} }, spec }: Pod): Problem[] {
  const { securityContext: podContext, os } = spec;
  const placedContainers = containersOf(spec);
  const podSeccompProblems = mismatchProblems(
    'seccomp',
    lookUp(annotations, POD_SECCOMP_ANNOTATION),
    podContext?.seccompProfile,
    'spec.securityContext.seccompProfile',
  );
  const seccompProblems = placedContainers.flatMap(({ container, field, index }) =>
    mismatchProblems(
      'seccomp',
      lookUp(annotations, `${CONTAINER_SECCOMP_PREFIX}${container.name}`),
      container.securityContext?.seccompProfile,
      `spec.${field}[${index}].securityContext.seccompProfile`,
    ),
  );
  if (os?.name === 'windows') return [...podSeccompProblems, ...seccompProblems];
  const appArmorProblems = placedContainers.flatMap(({ container, field, index }) =>
    mismatchProblems(
      'apparmor',
      lookUp(annotations, `${APPARMOR_ANNOTATION}${container.name}`),
      container.securityContext?.appArmorProfile ?? podContext?.appArmorProfile,
      `spec.${field}[${index}].securityContext.appArmorProfile`,
    ),
  );
  return [...podSeccompProblems, ...seccompProblems, ...appArmorProblems];
}

function mismatchProblems(
  kind: 'seccomp' | 'apparmor',
  annotation: string | undefined,
  profile: SecurityProfile | undefined,
  path: string,
): Problem[] {
  if (annotation === undefined || profile === undefined) return [];
  const typeMismatch = [forbidden(`${path}.type`, `${kind} type in annotation and field must match`)];
  const defaultProfiles = ['runtime/default', ...(kind === 'seccomp' ? ['docker/default'] : [])];
  switch (profile.type) {
    case 'Unconfined':
      return annotation === 'unconfined' ? [] : typeMismatch;
    case 'RuntimeDefault':
      return defaultProfiles.includes(annotation) ? [] : typeMismatch;
    case 'Localhost': {
      if (!annotation.startsWith('localhost/')) return typeMismatch;
      const isSameProfile = annotation === `localhost/${profile.localhostProfile}`;
      const reason = `${kind} profile in annotation and field must match`;
      return isSameProfile ? [] : [forbidden(`${path}.localhostProfile`, reason)];
    }
  }
}
