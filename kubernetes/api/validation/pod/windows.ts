/**
 * Validates the operating system and Windows options of a pod (`validateOS`, `validateLinux` and `validateWindows`).
 */
import type * as z from 'zod/mini';
import { containersOf } from '../../pods/containers.ts';
import type { Problem } from '../../problem.ts';
import type { PodSpec } from '../../schema/pod.ts';
import type { securityContextSchema } from '../../schema/security.ts';
import { dnsSubdomainProblems } from '../metadata/nameRules.ts';
import { allInvalid, forbidden, invalid, notSupported, required } from '../words.ts';

type WindowsOptions = NonNullable<z.infer<typeof securityContextSchema>['windowsOptions']>;

/** Checks that the operating system is valid and that no fields of a different operating system are set. */
export function validateOs(spec: PodSpec): Problem[] {
  if (spec.os === undefined) return [];
  const name: string = spec.os.name;
  if (name === '') return [required('spec.os.name')];
  if (name === 'linux') return forbidWindowsOptions(spec);
  return name === 'windows' ? forbidLinuxFields(spec) : [notSupported('spec.os', name, ['linux', 'windows'])];
}

function forbidWindowsOptions(spec: PodSpec): Problem[] {
  const reason = 'windows options cannot be set for a linux pod';
  const contexts = [
    { path: 'spec.securityContext', context: spec.securityContext },
    ...containersOf(spec).map(({ container, field, index }) => ({
      path: `spec.${field}[${index}].securityContext`,
      context: container.securityContext,
    })),
  ];
  return contexts.flatMap(({ path, context }) =>
    context?.windowsOptions === undefined ? [] : [forbidden(`${path}.windowsOptions`, reason)],
  );
}

const WINDOWS_RULE = 'cannot be set for a windows pod';

/** Fields in the order in which Kubernetes checks them. */
const POD_FIELDS = [
  'securityContext.appArmorProfile',
  'securityContext.seLinuxOptions',
  'hostUsers',
  'hostPID',
  'hostIPC',
  'securityContext.seccompProfile',
  'securityContext.fsGroup',
  'securityContext.fsGroupChangePolicy',
  'securityContext.sysctls',
  'shareProcessNamespace',
  'securityContext.runAsUser',
  'securityContext.runAsGroup',
  'securityContext.supplementalGroups',
  'securityContext.supplementalGroupsPolicy',
  'securityContext.seLinuxChangePolicy',
] as const;

const CONTAINER_FIELDS = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
] as const;

function forbidLinuxFields(spec: PodSpec): Problem[] {
  const { securityContext = {}, hostUsers, hostPID, hostIPC, shareProcessNamespace } = spec;
  const { sysctls = [] } = securityContext;
  const podFields = { hostUsers, hostPID: hostPID || undefined, hostIPC: hostIPC || undefined, shareProcessNamespace };
  const definedFields = new Set([
    ...Object.entries(podFields).flatMap(([field, value]) => (value === undefined ? [] : [field])),
    ...Object.keys(securityContext)
      .filter((field) => field !== 'sysctls' || sysctls.length > 0)
      .map((field) => `securityContext.${field}`),
  ]);
  return [
    ...POD_FIELDS.filter((field) => definedFields.has(field)).map((field) => forbidden(`spec.${field}`, WINDOWS_RULE)),
    ...containersOf(spec).flatMap(({ container, field, index }) =>
      CONTAINER_FIELDS.filter((name) => container.securityContext?.[name] !== undefined).map((name) =>
        forbidden(`spec.${field}[${index}].securityContext.${name}`, WINDOWS_RULE),
      ),
    ),
  ];
}

const MAX_CREDENTIAL_KIB = 64;
const MAX_DOMAIN_LENGTH = 256;
const MAX_USER_LENGTH = 104;

export function validateWindowsOptions(options: WindowsOptions | undefined, path: string): Problem[] {
  if (options === undefined) return [];
  const { gmsaCredentialSpecName, gmsaCredentialSpec, runAsUserName } = options;
  const isTooLong = (gmsaCredentialSpec?.length ?? 0) > MAX_CREDENTIAL_KIB * 1024;
  const fieldPath = `${path}.gmsaCredentialSpec`;
  return [
    ...(gmsaCredentialSpecName === undefined
      ? []
      : allInvalid(
          `${path}.gmsaCredentialSpecName`,
          gmsaCredentialSpecName,
          dnsSubdomainProblems(gmsaCredentialSpecName),
        )),
    ...(gmsaCredentialSpec === ''
      ? [invalid(fieldPath, gmsaCredentialSpec, 'gmsaCredentialSpec cannot be an empty string')]
      : []),
    ...(isTooLong
      ? [invalid(fieldPath, gmsaCredentialSpec, `gmsaCredentialSpec size must be under ${MAX_CREDENTIAL_KIB} KiB`)]
      : []),
    ...(runAsUserName === undefined
      ? []
      : allInvalid(`${path}.runAsUserName`, runAsUserName, windowsUserNameProblems(runAsUserName))),
  ];
}

const NETBIOS_PATTERN = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const DNS_LABEL_PATTERN = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?';
const DNS_NAME_PATTERN = new RegExp(`^${DNS_LABEL_PATTERN}(?:\\.${DNS_LABEL_PATTERN})*$`);

/** Checks a user name, which may be preceded by a domain and a backslash. */
function windowsUserNameProblems(name: string): string[] {
  if (name === '') return ['runAsUserName cannot be an empty string'];
  const hasControlCharacters = [...name].some((character) => character < ' ' || character === '\u007f');
  if (hasControlCharacters) return ['runAsUserName cannot contain control characters'];
  const nameParts = name.split('\\');
  if (nameParts.length > 2) return ['runAsUserName cannot contain more than one backslash'];
  const user = nameParts.at(-1) ?? '';
  const domain = nameParts.length === 2 ? (nameParts[0] ?? '') : undefined;
  const isDomain = domain === undefined || NETBIOS_PATTERN.test(domain) || DNS_NAME_PATTERN.test(domain);
  return [
    ...((domain ?? '').length >= MAX_DOMAIN_LENGTH
      ? [`runAsUserName's Domain length must be under ${MAX_DOMAIN_LENGTH} characters`]
      : []),
    ...(isDomain ? [] : ["runAsUserName's Domain doesn't match the NetBios nor the DNS format"]),
    ...(user === '' ? ["runAsUserName's User cannot be empty"] : []),
    ...(user.length > MAX_USER_LENGTH
      ? [`runAsUserName's User length must not be longer than ${MAX_USER_LENGTH} characters`]
      : []),
    ...(/^[. ]+$/.test(user) ? ["runAsUserName's User cannot contain only periods or spaces"] : []),
    ...(/["/\\:;|=,+*?<>@[\]]/.test(user)
      ? ['runAsUserName\'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]']
      : []),
  ];
}

/**
 * Checks that either all or none of the containers of a pod are host processes, and that a pod with host processes uses
 * the host network.
 */
export function validateHostProcesses(spec: PodSpec): Problem[] {
  const podHostProcess = spec.securityContext?.windowsOptions?.hostProcess;
  const containerValues = containersOf(spec).map(({ container, field, index }) => ({
    value: container.securityContext?.windowsOptions?.hostProcess,
    path: `spec.${field}[${index}].securityContext.windowsOptions.hostProcess`,
  }));
  const count = containerValues.filter(({ value }) => value ?? podHostProcess ?? false).length;
  const differingContainers = containerValues.filter(
    ({ value }) => value !== undefined && podHostProcess !== undefined && value !== podHostProcess,
  );
  return [
    ...differingContainers.map(({ value, path }) =>
      invalid(path, value, `pod hostProcess value must be identical if both are specified, was ${podHostProcess}`),
    ),
    ...(count > 0 && count < containerValues.length
      ? [
          invalid(
            'spec',
            '',
            'If pod contains any hostProcess containers then all containers must be HostProcess containers',
          ),
        ]
      : []),
    ...(count > 0 && !spec.hostNetwork
      ? [invalid('spec.hostNetwork', false, 'hostNetwork must be true if pod contains any hostProcess containers')]
      : []),
  ];
}
