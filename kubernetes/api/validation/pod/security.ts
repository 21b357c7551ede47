/**
 * Validates security contexts (`validatePodSpecSecurityContext` and `ValidateSecurityContext` of `core/validation`).
 */
import { dottedSysctl, SYSCTL_NAME_PATTERN, sysctlNamespace } from '../../../admission/sysctls.ts';
import { containersOf } from '../../pods/containers.ts';
import type { Problem } from '../../problem.ts';
import type { Container } from '../../schema/container.ts';
import type { PodSpec } from '../../schema/pod.ts';
import type { SecurityContext, SecurityProfile } from '../../schema/security.ts';
import {
  duplicate,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
  validateOneOf,
  validatePathInVolume,
  validateRange,
} from '../words.ts';
import { validateWindowsOptions } from './windows.ts';

const MAX_USER_ID = 2 ** 31 - 1;
const MAX_SYSCTL_LENGTH = 253;
const MAX_PROFILE_LENGTH = 4095;

/** Validates a pod's security context and its use of host namespaces. */
export function validatePodSecurity(spec: PodSpec): Problem[] {
  const { securityContext = {}, shareProcessNamespace, hostPID } = spec;
  const path = 'spec.securityContext';
  const { fsGroup, runAsUser, runAsGroup, supplementalGroups = [], sysctls = [] } = securityContext;
  const isShared = shareProcessNamespace && hostPID;
  return [
    ...validateId(`${path}.fsGroup`, fsGroup),
    ...validateId(`${path}.runAsUser`, runAsUser),
    ...validateId(`${path}.runAsGroup`, runAsGroup),
    ...supplementalGroups.flatMap((id, index) => validateId(`${path}.supplementalGroups[${index}]`, id)),
    ...(isShared
      ? [
          invalid(
            `${path}.shareProcessNamespace`,
            shareProcessNamespace,
            'ShareProcessNamespace and HostPID cannot both be enabled',
          ),
        ]
      : []),
    ...validateSysctls(sysctls, spec, `${path}.sysctls`),
    ...validateOneOf(`${path}.fsGroupChangePolicy`, securityContext.fsGroupChangePolicy, ['Always', 'OnRootMismatch']),
    ...validateSeccomp(securityContext.seccompProfile, `${path}.seccompProfile`),
    ...validateWindowsOptions(securityContext.windowsOptions, `${path}.windowsOptions`),
    ...validateAppArmor(securityContext.appArmorProfile, `${path}.appArmorProfile`),
    ...validateOneOf(`${path}.supplementalGroupsPolicy`, securityContext.supplementalGroupsPolicy, ['Merge', 'Strict']),
    // `MountOption` is not supported, because it needs the feature gate SELinuxMount, which is off by default
    // (`validateSELinuxChangePolicy`).
    ...validateOneOf(`${path}.seLinuxChangePolicy`, securityContext.seLinuxChangePolicy, ['Recursive']),
  ];
}

export function validateContainerSecurity(
  { securityContext: context }: Container,
  spec: PodSpec,
  path: string,
): Problem[] {
  if (context === undefined) return [];
  const { runAsUser, runAsGroup, procMount, seccompProfile, windowsOptions, appArmorProfile } = context;
  const isUnmaskedOnHost = procMount === 'Unmasked' && spec.hostUsers !== false;
  return [
    ...validateId(`${path}.runAsUser`, runAsUser),
    ...validateId(`${path}.runAsGroup`, runAsGroup),
    ...validateOneOf(`${path}.procMount`, procMount, ['Default', 'Unmasked']),
    ...(isUnmaskedOnHost
      ? [invalid(`${path}.procMount`, procMount, '`hostUsers` must be false to use `Unmasked`')]
      : []),
    ...validateSeccomp(seccompProfile, `${path}.seccompProfile`),
    ...validateEscalation(context, path),
    ...validateWindowsOptions(windowsOptions, `${path}.windowsOptions`),
    ...validateAppArmor(appArmorProfile, `${path}.appArmorProfile`),
  ];
}

const validateId = (path: string, id: number | undefined): Problem[] => validateRange(path, id, 0, MAX_USER_ID);

/** Checks that a container is not privileged if it forbids privilege escalation. */
function validateEscalation(context: SecurityContext, path: string): Problem[] {
  if (context.allowPrivilegeEscalation !== false) return [];
  const conflictProblem = (condition: string) =>
    invalid(path, toGoValue(context), `cannot set \`allowPrivilegeEscalation\` to false and ${condition}`);
  const { privileged, capabilities } = context;
  const hasSysAdmin = capabilities?.add?.includes('CAP_SYS_ADMIN');
  return [
    ...(privileged ? [conflictProblem('`privileged` to true')] : []),
    ...(hasSysAdmin ? [conflictProblem('`capabilities.Add` CAP_SYS_ADMIN')] : []),
  ];
}

/**
 * Returns a security context as it appears in error messages, with all fields named as in Kubernetes' internal Go type.
 */
function toGoValue(context: SecurityContext): object {
  const { capabilities, seLinuxOptions, windowsOptions, seccompProfile, appArmorProfile } = context;
  return {
    Capabilities: capabilities ? { Add: capabilities.add ?? null, Drop: capabilities.drop ?? null } : null,
    Privileged: context.privileged ?? null,
    SELinuxOptions: seLinuxOptions
      ? {
          User: seLinuxOptions.user ?? '',
          Role: seLinuxOptions.role ?? '',
          Type: seLinuxOptions.type ?? '',
          Level: seLinuxOptions.level ?? '',
        }
      : null,
    WindowsOptions: windowsOptions
      ? {
          GMSACredentialSpecName: windowsOptions.gmsaCredentialSpecName ?? null,
          GMSACredentialSpec: windowsOptions.gmsaCredentialSpec ?? null,
          RunAsUserName: windowsOptions.runAsUserName ?? null,
          HostProcess: windowsOptions.hostProcess ?? null,
        }
      : null,
    RunAsUser: context.runAsUser ?? null,
    RunAsGroup: context.runAsGroup ?? null,
    RunAsNonRoot: context.runAsNonRoot ?? null,
    ReadOnlyRootFilesystem: context.readOnlyRootFilesystem ?? null,
    AllowPrivilegeEscalation: context.allowPrivilegeEscalation ?? null,
    ProcMount: context.procMount ?? null,
    SeccompProfile: seccompProfile ? profileToGoValue(seccompProfile) : null,
    AppArmorProfile: appArmorProfile ? profileToGoValue(appArmorProfile) : null,
  };
}

const profileToGoValue = ({ type, localhostProfile }: SecurityProfile): object => ({
  Type: type,
  LocalhostProfile: localhostProfile ?? null,
});

const PROFILE_TYPES = ['Localhost', 'RuntimeDefault', 'Unconfined'];

function validateProfileType(type: string, field: 'seccompProfile' | 'appArmorProfile', path: string): Problem[] {
  if (type === '') return [required(path, `type is required when ${field} is set`)];
  return PROFILE_TYPES.includes(type) ? [] : [notSupported(path, type, PROFILE_TYPES)];
}

function validateSeccomp(profile: SecurityProfile | undefined, path: string): Problem[] {
  if (profile === undefined) return [];
  const { type, localhostProfile } = profile;
  return [
    ...validateProfileType(type, 'seccompProfile', `${path}.type`),
    ...(type === 'Localhost'
      ? validateLocalhostSeccomp(localhostProfile, `${path}.localhostProfile`)
      : localhostProfile === undefined
        ? []
        : [
            invalid(
              `${path}.localhostProfile`,
              profileToGoValue(profile),
              'can only be set when seccomp type is Localhost',
            ),
          ]),
  ];
}

const validateLocalhostSeccomp = (profile: string | undefined, path: string): Problem[] =>
  profile === undefined
    ? [required(path, 'must be set when seccomp type is Localhost')]
    : validatePathInVolume(path, profile);

function validateAppArmor(profile: SecurityProfile | undefined, path: string): Problem[] {
  if (profile === undefined) return [];
  const { type, localhostProfile } = profile;
  const field = `${path}.localhostProfile`;
  if (type === 'Localhost') return validateLocalhostAppArmor(localhostProfile, field);
  const typeProblems = validateProfileType(type, 'appArmorProfile', `${path}.type`);
  if (typeProblems.length > 0 || localhostProfile === undefined) return typeProblems;
  return [invalid(field, localhostProfile, 'can only be set when AppArmor type is Localhost')];
}

function validateLocalhostAppArmor(profile: string | undefined, path: string): Problem[] {
  const missingProblem = required(path, 'must be set when AppArmor type is Localhost');
  if (profile === undefined) return [missingProblem];
  const valueProblems =
    profile === profile.trim()
      ? profile === ''
        ? [missingProblem]
        : []
      : [invalid(path, profile, 'must not be padded with whitespace')];
  return [...valueProblems, ...(profile.length > MAX_PROFILE_LENGTH ? [tooLong(path, MAX_PROFILE_LENGTH)] : [])];
}

function validateSysctls(
  sysctls: NonNullable<NonNullable<PodSpec['securityContext']>['sysctls']>,
  spec: PodSpec,
  path: string,
): Problem[] {
  const names = new Set<string>();
  return sysctls.flatMap(({ name }, index) => {
    const fieldPath = `${path}[${index}].name`;
    const isRepeated = names.has(name);
    names.add(name);
    return [...validateSysctlName(name, isRepeated, fieldPath), ...validateHostSysctl(name, spec, fieldPath)];
  });
}

function validateSysctlName(name: string, isRepeated: boolean, path: string): Problem[] {
  if (name === '') return [required(path)];
  if (name.length > MAX_SYSCTL_LENGTH || !SYSCTL_NAME_PATTERN.test(name)) {
    const pattern = '^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$';
    return [invalid(path, name, `must have at most ${MAX_SYSCTL_LENGTH} characters and match regex ${pattern}`)];
  }
  return isRepeated ? [duplicate(path, name)] : [];
}

function validateHostSysctl(name: string, { hostNetwork, hostIPC }: PodSpec, path: string): Problem[] {
  const namespace = sysctlNamespace(dottedSysctl(name));
  const hostNamespaceProblem = (field: string) => [invalid(path, name, `may not be specified when '${field}' is true`)];
  if (namespace === 'net' && hostNetwork) return hostNamespaceProblem('hostNetwork');
  return namespace === 'ipc' && hostIPC ? hostNamespaceProblem('hostIPC') : [];
}

/** Checks that a pod with its own user namespace does not use any other namespace of the host (`validateHostUsers`). */
export function validateHostUsers(spec: PodSpec): Problem[] {
  if (spec.hostUsers !== false) return [];
  const reason = 'when `hostUsers` is false';
  return [
    ...(spec.hostNetwork ? [forbidden('spec.hostNetwork', reason)] : []),
    // Capitalize these two fields, as Kubernetes does in its messages.
    ...(spec.hostPID ? [forbidden('spec.HostPID', reason)] : []),
    ...(spec.hostIPC ? [forbidden('spec.HostIPC', reason)] : []),
    ...containersOf(spec).flatMap(({ container, field, index }) =>
      container.volumeDevices?.length ? [forbidden(`spec.${field}[${index}].volumeDevices`, reason)] : [],
    ),
  ];
}
