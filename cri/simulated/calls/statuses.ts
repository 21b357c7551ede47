import { ContainerStatus, type PodSandboxStatus } from '../../generated/runtime.ts';
import { millisToNanos } from '../clock.ts';
import {
  type ContainerRecord,
  type SandboxRecord,
  toCriContainerState,
  toListedContainer,
  toListedSandbox,
} from '../objects/records.ts';

/** Converts a sandbox to the response of its status call. */
export function toSandboxStatus(record: SandboxRecord): PodSandboxStatus {
  const options = record.config.linux?.securityContext?.namespaceOptions;
  return {
    ...toListedSandbox(record),
    network: { ip: record.ip ?? '', additionalIps: record.additionalIps.map((ip) => ({ ip })) },
    linux: { namespaces: { options: options && { ...options } } },
  };
}

/** Converts a container to the response of its status call. */
export function toContainerStatus(record: ContainerRecord, reportsUsers: boolean): ContainerStatus {
  const { podSandboxId: _, ...listed } = toListedContainer(record);
  const { mounts } = record.config;
  return {
    ...ContainerStatus.create(),
    ...listed,
    ...lifecycleFields(record),
    image: { annotations: {}, userSpecifiedImage: '', runtimeHandler: '', imageRef: '', image: record.image.name },
    imageRef: record.image.digest,
    mounts: mounts.map((mount) => ({ ...mount })),
    logPath: record.logPath,
    state: toCriContainerState(record),
    user: reportsUsers ? { linux: processUser(record) } : undefined,
  };
}

/** Returns the user of the container's process. The simulated images set no user, so the default is root. */
function processUser({ config }: ContainerRecord) {
  const { runAsUser, runAsGroup, supplementalGroups = [] } = config.linux?.securityContext ?? {};
  return { uid: runAsUser?.value ?? 0n, gid: runAsGroup?.value ?? 0n, supplementalGroups: [...supplementalGroups] };
}

const OOM_KILLED_REASON = 'OOMKilled';

function lifecycleFields(record: ContainerRecord): Partial<ContainerStatus> {
  const { lifecycle, wasOomKilled, hasUnknownState, hasUnreadStatus, recoveredAt } = record;
  if (lifecycle.state === 'created') return {};
  const startTimeMs = hasUnreadStatus ? recoveredAt : lifecycle.startedAt;
  const startedAt = startTimeMs === undefined ? 0n : millisToNanos(startTimeMs);
  const recordedReason = wasOomKilled ? OOM_KILLED_REASON : hasUnreadStatus ? 'Unknown' : '';
  if (lifecycle.state === 'running' || hasUnknownState)
    return { startedAt, reason: recordedReason, exitCode: hasUnknownState && hasUnreadStatus ? 255 : 0 };
  const { finishedAt, exitCode, message = '' } = lifecycle;
  const reason = recordedReason || lifecycle.reason;
  return { startedAt, finishedAt: millisToNanos(finishedAt), exitCode, reason, message };
}
