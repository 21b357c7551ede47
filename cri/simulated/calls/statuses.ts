import { ContainerStatus, type PodSandboxStatus } from '../../generated/runtime.ts';
import { nanoseconds } from '../clock.ts';
import {
  type ContainerRecord,
  containerState,
  type SandboxRecord,
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
    state: containerState(record),
    user: reportsUsers ? { linux: processUser(record) } : undefined,
  };
}

/** Returns the user of the container's process. The simulated images set no user, so the default is root. */
function processUser({ config }: ContainerRecord) {
  const { runAsUser, runAsGroup, supplementalGroups = [] } = config.linux?.securityContext ?? {};
  return { uid: runAsUser?.value ?? 0n, gid: runAsGroup?.value ?? 0n, supplementalGroups: [...supplementalGroups] };
}

const OOM_KILLED = 'OOMKilled';

function lifecycleFields(record: ContainerRecord): Partial<ContainerStatus> {
  const { life, oomKilled, unknown, unread, recoveredAt } = record;
  if (life.state === 'created') return {};
  const startMs = unread ? recoveredAt : life.startedAt;
  const startedAt = startMs === undefined ? 0n : nanoseconds(startMs);
  const recordedReason = oomKilled ? OOM_KILLED : unread ? 'Unknown' : '';
  if (life.state === 'running' || unknown)
    return { startedAt, reason: recordedReason, exitCode: unknown && unread ? 255 : 0 };
  const { finishedAt, exitCode, message = '' } = life;
  const reason = recordedReason || life.reason;
  return { startedAt, finishedAt: nanoseconds(finishedAt), exitCode, reason, message };
}
