import { appArmorProfileOf } from '../../kubernetes/api/appArmor.ts';
import { containersOf } from '../../kubernetes/api/pods/containers.ts';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { PodSecurityContext, SecurityContext } from '../../kubernetes/api/schema/security.ts';
import {
  LinuxContainerSecurityContext,
  LinuxSandboxSecurityContext,
  SELinuxOption,
  SupplementalGroupsPolicy,
} from '../generated/runtime.ts';
import type { NodeDescription } from '../nodeDescription.ts';
import type { ImageUser } from './imageUser.ts';
import { namespaceOptions, type UserRange } from './namespaces.ts';
import { apparmorProfile, apparmorProfileName, RUNTIME_DEFAULT_PROFILE, seccompProfile } from './securityProfiles.ts';

/** Paths that are hidden from a container with the default procMount. */
const MASKED_PATHS = [
  '/proc/asound',
  '/proc/acpi',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/sys/firmware',
  '/sys/devices/virtual/powercap',
];

/** Paths that are read-only for a container with the default procMount. */
const READONLY_PATHS = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];

/**
 * Returns the security context of a container, whose settings override those of the pod. If neither sets a user, the
 * user of the image applies.
 */
export function buildContainerSecurityContext(
  pod: Pod,
  container: Container,
  node: NodeDescription,
  image: ImageUser | undefined,
  userRange?: UserRange,
): LinuxContainerSecurityContext {
  const containerContext = container.securityContext ?? {};
  const context = { ...pod.spec.securityContext, ...containerContext };
  const apparmorConfig = apparmorProfile(appArmorProfileOf(pod, container));
  const isUnmasked = containerContext.procMount === 'Unmasked';
  return LinuxContainerSecurityContext.fromPartial({
    ...userFields(context, image),
    ...groupFields(pod.spec.securityContext ?? {}),
    capabilities: toCapabilities(containerContext),
    privileged: containerContext.privileged ?? false,
    namespaceOptions: namespaceOptions(pod.spec, userRange),
    selinuxOptions: toSelinuxOption(context),
    readonlyRootfs: containerContext.readOnlyRootFilesystem ?? false,
    noNewPrivs: containerContext.allowPrivilegeEscalation === false,
    maskedPaths: isUnmasked ? [] : [...MASKED_PATHS, ...(node.maskedPaths ?? [])],
    readonlyPaths: isUnmasked ? [] : READONLY_PATHS,
    seccomp: seccompProfile(context.seccompProfile, node),
    apparmor: apparmorConfig,
    apparmorProfile: apparmorConfig ? apparmorProfileName(apparmorConfig) : '',
  });
}

/**
 * Returns the security context of the sandbox. It is privileged if any container is, because runtimes reject privileged
 * containers in an unprivileged sandbox.
 */
export function buildSandboxSecurityContext({ spec }: Pod, userRange?: UserRange): LinuxSandboxSecurityContext {
  const context = spec.securityContext ?? {};
  const { runAsUser, runAsGroup } = userFields(context);
  return LinuxSandboxSecurityContext.fromPartial({
    runAsUser,
    runAsGroup,
    ...groupFields(context),
    namespaceOptions: namespaceOptions(spec, userRange),
    selinuxOptions: toSelinuxOption(context),
    privileged: containersOf(spec).some(({ container }) => container.securityContext?.privileged),
    // The pause process runs under the runtime's default profile.
    seccomp: RUNTIME_DEFAULT_PROFILE,
  });
}

/**
 * Returns the user and group fields. The group is omitted if there is no user, because runtimes reject a group without
 * a user.
 */
function userFields({ runAsUser, runAsGroup }: Pick<SecurityContext, 'runAsUser' | 'runAsGroup'>, image?: ImageUser) {
  const imageUid = image && 'uid' in image ? image.uid : undefined;
  const uid = runAsUser === undefined ? imageUid : BigInt(runAsUser);
  const runAsUsername = uid === undefined && image && 'username' in image ? image.username : '';
  const hasUser = uid !== undefined || runAsUsername !== '';
  return {
    runAsUser: uid === undefined ? undefined : { value: uid },
    runAsUsername,
    runAsGroup: runAsGroup === undefined || !hasUser ? undefined : { value: BigInt(runAsGroup) },
  };
}

function groupFields({ fsGroup, supplementalGroups = [], supplementalGroupsPolicy }: PodSecurityContext) {
  const ids = new Set([...(fsGroup === undefined ? [] : [fsGroup]), ...supplementalGroups]);
  return {
    supplementalGroups: Array.from(ids, BigInt),
    supplementalGroupsPolicy: SupplementalGroupsPolicy[supplementalGroupsPolicy ?? 'Merge'],
  };
}

function toCapabilities({ capabilities }: SecurityContext) {
  if (capabilities === undefined) return undefined;
  return { addCapabilities: capabilities.add ?? [], dropCapabilities: capabilities.drop ?? [] };
}

function toSelinuxOption({ seLinuxOptions }: Pick<SecurityContext, 'seLinuxOptions'>): SELinuxOption | undefined {
  return seLinuxOptions && SELinuxOption.fromPartial(seLinuxOptions);
}
