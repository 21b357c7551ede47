import { ContainerStatus, type PodSandboxStatus } from '../generated/runtime.ts';
import { nanoseconds } from './clock.ts';
import { type ContainerRecord, containerState, listedContainer, listedSandbox, type SandboxRecord } from './records.ts';

/** A sandbox as its status call shows it. */
export function sandboxStatus(record: SandboxRecord): PodSandboxStatus {
  const options = record.config.linux?.securityContext?.namespaceOptions;
  return {
    ...listedSandbox(record),
    network: { ip: record.ip ?? '', additionalIps: record.additionalIps.map((ip) => ({ ip })) },
    linux: { namespaces: { options: options && { ...options } } },
  };
}

/** A container as its status call shows it. */
export function containerStatus(record: ContainerRecord): ContainerStatus {
  const { podSandboxId: _, ...listed } = listedContainer(record);
  const { mounts } = record.config;
  return {
    ...ContainerStatus.create(),
    ...listed,
    ...lifeStatus(record),
    image: { annotations: {}, userSpecifiedImage: '', runtimeHandler: '', imageRef: '', image: record.image.name },
    imageRef: record.image.digest,
    mounts: mounts.map((mount) => ({ ...mount })),
    logPath: record.logPath,
    state: containerState(record),
  };
}

const OOM_KILLED = 'OOMKilled';

function lifeStatus({ life, oomKilled, unknown, unread }: ContainerRecord): Partial<ContainerStatus> {
  if (life.state === 'created') return {};
  const startedAt = life.startedAt === undefined || unread ? 0n : nanoseconds(life.startedAt);
  const noted = oomKilled ? OOM_KILLED : unread ? 'Unknown' : '';
  if (life.state === 'running' || unknown) return { startedAt, reason: noted, exitCode: unknown && unread ? 255 : 0 };
  const { finishedAt, exitCode, message = '' } = life;
  const reason = noted || life.reason;
  return { startedAt, finishedAt: nanoseconds(finishedAt), exitCode, reason, message };
}
