/** What the API server asks of security contexts, and a node relies on; messages are Kubernetes's own. */
import { dottedSysctl, SYSCTL_NAME, sysctlNamespace } from '../../admission/sysctls.ts';
import { APPARMOR_ANNOTATION, profileOfAnnotation } from '../appArmor.ts';
import { containersOf, type PlacedContainer } from '../containers.ts';
import type { Problem } from '../problem.ts';
import type { Container } from '../schema/container.ts';
import type { Pod, PodSpec } from '../schema/pod.ts';
import type { SecurityContext, SecurityProfile } from '../schema/security.ts';
import { duplicates, forbidden, invalid, pathInVolume, required } from './words.ts';

const LARGEST_ID = 2 ** 31 - 1;
const LONGEST_SYSCTL = 253;
const LONGEST_PROFILE = 4095;

/** The security contexts of a pod and its containers, and what it shares with the host. */
export function validateSecurity(pod: Pod): Problem[] {
  const { spec } = pod;
  const { securityContext = {} } = spec;
  const path = 'spec.securityContext';
  const { supplementalGroups = [], fsGroup } = securityContext;
  return [
    ...validateCommon(securityContext, spec, path),
    ...validateId(`${path}.fsGroup`, fsGroup),
    ...supplementalGroups.flatMap((id, index) => validateId(`${path}.supplementalGroups[${index}]`, id)),
    ...validateSysctls(spec, `${path}.sysctls`),
    ...validateShares(spec),
    ...validateAnnotations(pod),
    ...containersOf(spec).flatMap((placed) => validateContainer(placed, spec)),
  ];
}

function validateContainer({ container, field, index }: PlacedContainer, spec: PodSpec): Problem[] {
  const own = container.securityContext;
  if (own === undefined) return [];
  const path = `spec.${field}[${index}].securityContext`;
  const unmasked = own.procMount === 'Unmasked' && spec.hostUsers !== false;
  return [
    ...validateCommon(own, spec, path),
    ...(unmasked ? [invalid(`${path}.procMount`, own.procMount, '`hostUsers` must be false to use `Unmasked`')] : []),
    ...validateEscalation(own, path),
  ];
}

/** What a pod's and a container's context have in common. */
function validateCommon(
  { runAsUser, runAsGroup, seccompProfile, appArmorProfile, windowsOptions }: SecurityContext,
  { os }: PodSpec,
  path: string,
): Problem[] {
  const windows = windowsOptions !== undefined && os?.name === 'linux';
  return [
    ...validateId(`${path}.runAsUser`, runAsUser),
    ...validateId(`${path}.runAsGroup`, runAsGroup),
    ...(seccompProfile ? validateSeccomp(seccompProfile, `${path}.seccompProfile`) : []),
    ...(appArmorProfile ? validateAppArmor(appArmorProfile, `${path}.appArmorProfile`) : []),
    ...(windows ? [forbidden(`${path}.windowsOptions`, 'windows options cannot be set for a linux pod')] : []),
  ];
}

function validateId(path: string, id: number | undefined): Problem[] {
  const fits = id === undefined || (id >= 0 && id <= LARGEST_ID);
  return fits ? [] : [invalid(path, id, `must be between 0 and ${LARGEST_ID}, inclusive`)];
}

/** A process that may not gain privileges has none to begin with. */
function validateEscalation(own: SecurityContext, path: string): Problem[] {
  if (own.allowPrivilegeEscalation !== false) return [];
  const cannot = (what: string) => invalid(path, own, `cannot set \`allowPrivilegeEscalation\` to false and ${what}`);
  return [
    ...(own.privileged ? [cannot('`privileged` to true')] : []),
    ...(own.capabilities?.add?.includes('CAP_SYS_ADMIN') ? [cannot('`capabilities.Add` CAP_SYS_ADMIN')] : []),
  ];
}

function validateSeccomp({ type, localhostProfile }: SecurityProfile, path: string): Problem[] {
  const field = `${path}.localhostProfile`;
  if (type === 'Localhost') {
    if (localhostProfile === undefined) return [required(field, 'must be set when seccomp type is Localhost')];
    return pathInVolume(field, localhostProfile);
  }
  if (localhostProfile === undefined) return [];
  return [invalid(field, localhostProfile, 'can only be set when seccomp type is Localhost')];
}

function validateAppArmor({ type, localhostProfile }: SecurityProfile, path: string): Problem[] {
  const field = `${path}.localhostProfile`;
  if (type !== 'Localhost') {
    if (localhostProfile === undefined) return [];
    return [invalid(field, localhostProfile, 'can only be set when AppArmor type is Localhost')];
  }
  const name = localhostProfile?.trim() ?? '';
  if (name === '') return [required(field, 'must be set when AppArmor type is Localhost')];
  return [
    ...(name === localhostProfile ? [] : [invalid(field, localhostProfile, 'must not be padded with whitespace')]),
    ...(name.length > LONGEST_PROFILE
      ? [{ path: field, message: `Too long: may not be more than ${LONGEST_PROFILE} bytes` }]
      : []),
  ];
}

function validateSysctls(spec: PodSpec, path: string): Problem[] {
  const sysctls = spec.securityContext?.sysctls ?? [];
  return [
    ...duplicates(
      sysctls.map(({ name }) => name),
      (index) => `${path}[${index}].name`,
    ),
    ...sysctls.flatMap(({ name }, index) => validateSysctl(name, spec, `${path}[${index}]`)),
  ];
}

function validateSysctl(name: string, { hostNetwork, hostIPC }: PodSpec, path: string): Problem[] {
  if (name === '') return [required(`${path}.name`)];
  if (name.length > LONGEST_SYSCTL || !SYSCTL_NAME.test(name)) {
    const rule = `must have at most ${LONGEST_SYSCTL} characters and match regex ${SYSCTL_NAME.source}`;
    return [invalid(`${path}.name`, name, rule)];
  }
  const namespace = sysctlNamespace(dottedSysctl(name));
  const shared = (field: string) => [invalid(`${path}.name`, name, `may not be specified when '${field}' is true`)];
  if (namespace === 'net' && hostNetwork) return shared('hostNetwork');
  return namespace === 'ipc' && hostIPC ? shared('hostIPC') : [];
}

/** Namespaces that exclude each other. */
function validateShares({ hostUsers, hostNetwork, hostPID, hostIPC, shareProcessNamespace }: PodSpec): Problem[] {
  const own = hostUsers === false;
  const excluded = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter(
    (field) => own && { hostNetwork, hostPID, hostIPC }[field],
  );
  return [
    ...excluded.map((field) => forbidden(`spec.${field}`, 'when `hostUsers` is false')),
    ...(shareProcessNamespace && hostPID
      ? [
          invalid(
            'spec.shareProcessNamespace',
            shareProcessNamespace,
            'ShareProcessNamespace and HostPID cannot both be enabled',
          ),
        ]
      : []),
  ];
}

/** AppArmor's old annotations: each names a container of the pod and a profile, the one of its field if there is one. */
function validateAnnotations({ metadata: { annotations = {} }, spec }: Pod): Problem[] {
  const containers = new Map(containersOf(spec).map((placed) => [placed.container.name, placed]));
  return Object.entries(annotations).flatMap(([key, value]) => {
    if (!key.startsWith(APPARMOR_ANNOTATION)) return [];
    const path = `metadata.annotations[${key}]`;
    const name = key.slice(APPARMOR_ANNOTATION.length);
    const placed = containers.get(name);
    if (placed === undefined) return [invalid(path, name, 'container not found')];
    const profile = value === '' ? undefined : profileOfAnnotation(value);
    if (value !== '' && profile === undefined)
      return [invalid(path, value, `invalid AppArmor profile name: "${value}"`)];
    return sameProfile(placed.container, profile)
      ? []
      : [forbidden(path, 'apparmor type in annotation and field must match')];
  });
}

function sameProfile({ securityContext }: Container, annotated: SecurityProfile | undefined): boolean {
  const field = securityContext?.appArmorProfile;
  if (field === undefined || annotated === undefined) return true;
  return field.type === annotated.type && field.localhostProfile === annotated.localhostProfile;
}
