/** What containers may use and do use, where there are none. */
import { ContainerStats, LinuxContainerResources, type UpdateContainerResourcesRequest } from '../generated/runtime.ts';
import { CallError } from './callError.ts';
import { type ContainerRecord, containerStateName } from './records.ts';

/** Gives a container other resources; one that has ended has none to give. */
export function updateResources(record: ContainerRecord, { linux }: UpdateContainerResourcesRequest): void {
  if (record.life.state === 'exited') {
    throw new CallError(
      'UNKNOWN',
      `cannot update container "${record.id}": it is in ${containerStateName(record)} state`,
    );
  }
  if (linux === undefined || record.config.linux === undefined) return;
  record.config.linux.resources = LinuxContainerResources.fromPartial(linux);
}

/** What a container uses: the memory that a test has told. */
export function statsOf({ id, memoryBytes = 0 }: ContainerRecord): ContainerStats {
  return ContainerStats.fromPartial({
    attributes: { id },
    memory: { usageBytes: { value: BigInt(memoryBytes) }, workingSetBytes: { value: BigInt(memoryBytes) } },
  });
}
