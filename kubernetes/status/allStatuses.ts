import type { ContainerStatus, PodStatus } from '../api/schema/status.ts';

type StatusLists = Pick<PodStatus, 'containerStatuses' | 'ephemeralContainerStatuses' | 'initContainerStatuses'>;

/** Returns the statuses of all containers of a pod: init containers and sidecars, regular and ephemeral containers. */
export const allStatuses = (status: StatusLists | undefined): ContainerStatus[] => [
  ...(status?.initContainerStatuses ?? []),
  ...(status?.containerStatuses ?? []),
  ...(status?.ephemeralContainerStatuses ?? []),
];
