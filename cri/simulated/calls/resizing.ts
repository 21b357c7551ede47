import { LinuxContainerResources, type UpdateContainerResourcesRequest } from '../../generated/runtime.ts';
import { CallError } from '../faults/callError.ts';
import type { ContainerRecord } from '../objects/records.ts';

/** Updates the resources of a container. This also works for a container that is not running yet. */
export function updateResources(record: ContainerRecord, { linux }: UpdateContainerResourcesRequest): void {
  if (record.isRemoving) {
    throw new CallError('UNKNOWN', `failed to update resources: container "${record.id}" is in removing state`);
  }
  if (linux === undefined || record.config.linux === undefined) return;
  record.config.linux.resources = LinuxContainerResources.fromPartial(linux);
}
