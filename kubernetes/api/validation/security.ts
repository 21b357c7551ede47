/** Checks of security contexts (`validatePodSpecSecurityContext` and `ValidateSecurityContext` of `core/validation`). */
import { dottedSysctl, SYSCTL_NAME, sysctlNamespace } from '../../admission/sysctls.ts';
import { containersOf } from '../containers.ts';
import type { Problem } from '../problem.ts';
import type { Container } from '../schema/container.ts';
import type { PodSpec } from '../schema/pod.ts';
import type { SecurityContext, SecurityProfile } from '../schema/security.ts';
import { validateWindowsOptions } from './windows.ts';
import {
  duplicate,
  forbidden,
  inRange,
  invalid,
  notSupported,
  oneOf,
  pathInVolume,
  required,
  tooLong,
} from './words.ts';

const LARGEST_ID = 2 ** 31 - 1;
const LONGEST_SYSCTL = 253;
const LONGEST_PROFILE = 4095;

/** Checks a pod's own security context and what it shares with the host. */
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
    ...oneOf(`${path}.fsGroupChangePolicy`, securityContext.fsGroupChangePolicy, ['Always', 'OnRootMismatch']),
    ...validateSeccomp(securityContext.seccompProfile, `${path}.seccompProfile`),
    ...validateWindowsOptions(securityContext.windowsOptions, `${path}.windowsOptions`),
    ...validateAppArmor(securityContext.appArmorProfile, `${path}.appArmorProfile`),
    ...oneOf(`${path}.supplementalGroupsPolicy`, securityContext.supplementalGroupsPolicy, ['Merge', 'Strict']),
    // MountOption needs the feature gate SELinuxMount, which is off by default (`validateSELinuxChangePolicy`).
    ...oneOf(`${path}.seLinuxChangePolicy`, securityContext.seLinuxChangePolicy, ['Recursive']),
  ];
}

/** Checks a container's security context. */
export function validateContainerSecurity({ securityContext: own }: Container, spec: PodSpec, path: string): Problem[] {
  if (own === undefined) return [];
  const { runAsUser, runAsGroup, procMount, seccompProfile, windowsOptions, appArmorProfile } = own;
  const isUnmaskedOnHost = procMount === 'Unmasked' && spec.hostUsers !== false;
  return [
    ...validateId(`${path}.runAsUser`, runAsUser),
    ...validateId(`${path}.runAsGroup`, runAsGroup),
    ...oneOf(`${path}.procMount`, procMount, ['Default', 'Unmasked']),
    ...(isUnmaskedOnHost
      ? [invalid(`${path}.procMount`, procMount, '`hostUsers` must be false to use `Unmasked`')]
      : []),
    ...validateSeccomp(seccompProfile, `${path}.seccompProfile`),
    ...validateEscalation(own, path),
    ...validateWindowsOptions(windowsOptions, `${path}.windowsOptions`),
    ...validateAppArmor(appArmorProfile, `${path}.appArmorProfile`),
  ];
}

const validateId = (path: string, id: number | undefined): Problem[] => inRange(path, id, 0, LARGEST_ID);

/** A process that may not gain privileges has none to begin with. */
function validateEscalation(own: SecurityContext, path: string): Problem[] {
  if (own.allowPrivilegeEscalation !== false) return [];
  const cannot = (what: string) =>
    invalid(path, asInGo(own), `cannot set \`allowPrivilegeEscalation\` to false and ${what}`);
  const { privileged, capabilities } = own;
  const isAdmin = capabilities?.add?.includes('CAP_SYS_ADMIN');
  return [
    ...(privileged ? [cannot('`privileged` to true')] : []),
    ...(isAdmin ? [cannot('`capabilities.Add` CAP_SYS_ADMIN')] : []),
  ];
}

/** A security context as messages show it: with the names of Go's internal type, and all fields. */
function asInGo(own: SecurityContext): object {
  const { capabilities, seLinuxOptions, windowsOptions, seccompProfile, appArmorProfile } = own;
  return {
    Capabilities: capabilities ? { Add: capabilities.add ?? null, Drop: capabilities.drop ?? null } : null,
    Privileged: own.privileged ?? null,
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
    RunAsUser: own.runAsUser ?? null,
    RunAsGroup: own.runAsGroup ?? null,
    RunAsNonRoot: own.runAsNonRoot ?? null,
    ReadOnlyRootFilesystem: own.readOnlyRootFilesystem ?? null,
    AllowPrivilegeEscalation: own.allowPrivilegeEscalation ?? null,
    ProcMount: own.procMount ?? null,
    SeccompProfile: seccompProfile ? profileInGo(seccompProfile) : null,
    AppArmorProfile: appArmorProfile ? profileInGo(appArmorProfile) : null,
  };
}

const profileInGo = ({ type, localhostProfile }: SecurityProfile): object => ({
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
            invalid(`${path}.localhostProfile`, profileInGo(profile), 'can only be set when seccomp type is Localhost'),
          ]),
  ];
}

const validateLocalhostSeccomp = (profile: string | undefined, path: string): Problem[] =>
  profile === undefined ? [required(path, 'must be set when seccomp type is Localhost')] : pathInVolume(path, profile);

function validateAppArmor(profile: SecurityProfile | undefined, path: string): Problem[] {
  if (profile === undefined) return [];
  const { type, localhostProfile } = profile;
  const field = `${path}.localhostProfile`;
  if (type === 'Localhost') return validateLocalhostAppArmor(localhostProfile, field);
  const wrongType = validateProfileType(type, 'appArmorProfile', `${path}.type`);
  if (wrongType.length > 0 || localhostProfile === undefined) return wrongType;
  return [invalid(field, localhostProfile, 'can only be set when AppArmor type is Localhost')];
}

function validateLocalhostAppArmor(profile: string | undefined, path: string): Problem[] {
  const missing = required(path, 'must be set when AppArmor type is Localhost');
  if (profile === undefined) return [missing];
  const wrong =
    profile === profile.trim()
      ? profile === ''
        ? [missing]
        : []
      : [invalid(path, profile, 'must not be padded with whitespace')];
  return [...wrong, ...(profile.length > LONGEST_PROFILE ? [tooLong(path, LONGEST_PROFILE)] : [])];
}

function validateSysctls(
  sysctls: NonNullable<NonNullable<PodSpec['securityContext']>['sysctls']>,
  spec: PodSpec,
  path: string,
): Problem[] {
  const names = new Set<string>();
  return sysctls.flatMap(({ name }, index) => {
    const at = `${path}[${index}].name`;
    const isRepeated = names.has(name);
    names.add(name);
    return [...validateSysctlName(name, isRepeated, at), ...validateSysctlOfHost(name, spec, at)];
  });
}

function validateSysctlName(name: string, isRepeated: boolean, path: string): Problem[] {
  if (name === '') return [required(path)];
  if (name.length > LONGEST_SYSCTL || !SYSCTL_NAME.test(name)) {
    const form = '^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$';
    return [invalid(path, name, `must have at most ${LONGEST_SYSCTL} characters and match regex ${form}`)];
  }
  return isRepeated ? [duplicate(path, name)] : [];
}

function validateSysctlOfHost(name: string, { hostNetwork, hostIPC }: PodSpec, path: string): Problem[] {
  const namespace = sysctlNamespace(dottedSysctl(name));
  const shared = (field: string) => [invalid(path, name, `may not be specified when '${field}' is true`)];
  if (namespace === 'net' && hostNetwork) return shared('hostNetwork');
  return namespace === 'ipc' && hostIPC ? shared('hostIPC') : [];
}

/** Checks that a pod with a user namespace of its own shares nothing that belongs to that of the host (`validateHostUsers`). */
export function validateHostUsers(spec: PodSpec): Problem[] {
  if (spec.hostUsers !== false) return [];
  const why = 'when `hostUsers` is false';
  return [
    ...(spec.hostNetwork ? [forbidden('spec.hostNetwork', why)] : []),
    // Kubernetes writes these two fields with a capital.
    ...(spec.hostPID ? [forbidden('spec.HostPID', why)] : []),
    ...(spec.hostIPC ? [forbidden('spec.HostIPC', why)] : []),
    ...containersOf(spec).flatMap(({ container, field, index }) =>
      container.volumeDevices?.length ? [forbidden(`spec.${field}[${index}].volumeDevices`, why)] : [],
    ),
  ];
}
