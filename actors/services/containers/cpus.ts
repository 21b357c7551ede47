/** Implements the ports of the CPU manager over the CRI and its state file. */

import { settleAll } from '../../../base/async/settleAll.ts';
import { messageOf, NodeFailure } from '../../../base/failure.ts';
import type { Cri } from '../../../cri/client/calls.ts';
import { LinuxContainerResources } from '../../../cri/generated/runtime.ts';
import { formatCpuSet } from '../../../kubernetes/cpus/cpuSet.ts';
import type { PortServices } from '../../boundary.ts';
import type { CpuManagerState } from '../../cpus/cpuManagerState.ts';
import { ignoreNotFound } from '../sandboxes/sandboxes.ts';

export interface CpuServiceDependencies {
  readonly cri: Pick<Cri, 'updateContainerResources'>;
  readonly cpuState: CpuManagerState;
}

export function cpuServices({
  cri,
  cpuState,
}: CpuServiceDependencies): Pick<PortServices, 'saveCpus' | 'reconcileCpus'> {
  /** The CPUs last assigned to each running container, by container ID. */
  let appliedCpusById = new Map<string, string>();
  return {
    saveCpus: async ({ assignments }) => {
      await cpuState.save(assignments).catch((cause: unknown) => {
        throw new NodeFailure('StoreFailed', `the CPU assignments could not be saved: ${messageOf(cause)}`, { cause });
      });
      return null;
    },
    reconcileCpus: async ({ containers }, options) => {
      const previousCpusById = appliedCpusById;
      const currentCpusById = new Map<string, string>();
      appliedCpusById = currentCpusById;
      let updatedCount = 0;
      const pendingUpdates = containers.map(async ({ pod, container, id }) => {
        const cpus = formatCpuSet(cpuState.cpusOf(pod.uid, container) ?? []);
        if (cpus === '') return;
        if (previousCpusById.get(id) !== cpus) {
          const linux = LinuxContainerResources.fromPartial({ cpusetCpus: cpus });
          await cri.updateContainerResources({ containerId: id, linux, windows: undefined, annotations: {} }, options);
          updatedCount += 1;
        }
        currentCpusById.set(id, cpus);
      });
      await settleAll(pendingUpdates.map((update) => update.catch(ignoreNotFound)));
      return { updatedCount };
    },
  };
}
