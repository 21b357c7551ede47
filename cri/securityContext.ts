import { appArmorProfileOf } from '../kubernetes/api/appArmor.ts';
import { containersOf } from '../kubernetes/api/containers.ts';
import type { Container } from '../kubernetes/api/schema/container.ts';
import type { Pod } from '../kubernetes/api/schema/pod.ts';
import type { PodSecurityContext, SecurityContext } from '../kubernetes/api/schema/security.ts';
import {
  LinuxContainerSecurityContext,
  LinuxSandboxSecurityContext,
  SELinuxOption,
  SupplementalGroupsPolicy,
} from './generated/runtime.ts';
import type { ImageUser } from './imageUser.ts';
import { namespaceOptions, type UserRange } from './namespaces.ts';
import type { NodeDescription } from './nodeDescription.ts';
import { apparmorName, apparmorProfile, RUNTIME_DEFAULT, seccompProfile } from './securityProfiles.ts';

/** What of /proc and /sys a container does not see under the procMount Default. */
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

/** What of /proc it can not write. */
const READONLY_PATHS = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];

/** A container's privileges: its own where it says so, else its pod's. `image` counts when neither names a user. */
export function containerSecurity(
  pod: Pod,
  container: Container,
  node: NodeDescription,
  image: ImageUser | undefined,
  users?: UserRange,
): LinuxContainerSecurityContext {
  const own = container.securityContext ?? {};
  const context = { ...pod.spec.securityContext, ...own };
  const apparmor = apparmorProfile(appArmorProfileOf(pod, container));
  const unmasked = own.procMount === 'Unmasked';
  return LinuxContainerSecurityContext.fromPartial({
    ...user(context, image),
    ...groups(pod.spec.securityContext ?? {}),
    capabilities: capabilities(own),
    privileged: own.privileged ?? false,
    namespaceOptions: namespaceOptions(pod.spec, users),
    selinuxOptions: selinux(context),
    readonlyRootfs: own.readOnlyRootFilesystem ?? false,
    noNewPrivs: own.allowPrivilegeEscalation === false,
    maskedPaths: unmasked ? [] : [...MASKED_PATHS, ...(node.maskedPaths ?? [])],
    readonlyPaths: unmasked ? [] : READONLY_PATHS,
    seccomp: seccompProfile(context.seccompProfile, node),
    apparmor,
    apparmorProfile: apparmor ? apparmorName(apparmor) : '',
  });
}

/** The sandbox's own privileges: a runtime refuses privileged containers in a sandbox that is not. */
export function sandboxSecurity({ spec }: Pod, users?: UserRange): LinuxSandboxSecurityContext {
  const context = spec.securityContext ?? {};
  const { runAsUser, runAsGroup } = user(context);
  return LinuxSandboxSecurityContext.fromPartial({
    runAsUser,
    runAsGroup,
    ...groups(context),
    namespaceOptions: namespaceOptions(spec, users),
    selinuxOptions: selinux(context),
    privileged: containersOf(spec).some(({ container }) => container.securityContext?.privileged),
    // The pause process needs nothing that the runtime's own profile refuses.
    seccomp: RUNTIME_DEFAULT,
  });
}

/** Runtimes refuse a group without a user. */
function user({ runAsUser, runAsGroup }: Pick<SecurityContext, 'runAsUser' | 'runAsGroup'>, image?: ImageUser) {
  const imageUid = image && 'uid' in image ? image.uid : undefined;
  const uid = runAsUser === undefined ? imageUid : BigInt(runAsUser);
  const runAsUsername = uid === undefined && image && 'username' in image ? image.username : '';
  const named = uid !== undefined || runAsUsername !== '';
  return {
    runAsUser: uid === undefined ? undefined : { value: uid },
    runAsUsername,
    runAsGroup: runAsGroup === undefined || !named ? undefined : { value: BigInt(runAsGroup) },
  };
}

function groups({ fsGroup, supplementalGroups = [], supplementalGroupsPolicy }: PodSecurityContext) {
  const ids = new Set([...(fsGroup === undefined ? [] : [fsGroup]), ...supplementalGroups]);
  return {
    supplementalGroups: Array.from(ids, BigInt),
    supplementalGroupsPolicy: SupplementalGroupsPolicy[supplementalGroupsPolicy ?? 'Merge'],
  };
}

function capabilities({ capabilities }: SecurityContext) {
  if (capabilities === undefined) return undefined;
  return { addCapabilities: capabilities.add ?? [], dropCapabilities: capabilities.drop ?? [] };
}

function selinux({ seLinuxOptions }: Pick<SecurityContext, 'seLinuxOptions'>): SELinuxOption | undefined {
  return seLinuxOptions && SELinuxOption.fromPartial(seLinuxOptions);
}
