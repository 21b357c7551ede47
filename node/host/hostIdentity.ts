/** What the host is, as a Node's status tells it. */
import { readFile } from 'node:fs/promises';
import { arch, release } from 'node:os';
import { goArchitecture } from '../../kubernetes/admission/node.ts';
import { KUBERNETES_VERSION } from '../../kubernetes/api/version.ts';
import type { HostIdentity } from '../../kubernetes/node/nodeObject.ts';
import { swapCapacity } from './cgroups.ts';
import { packageVersion } from './places.ts';

/** The version of the kubelet that this agent is like, with its own behind it. */
export const kubeletVersion = (): string => `v${KUBERNETES_VERSION}.0+statelet.${packageVersion()}`;

const textOf = async (file: string): Promise<string> => (await readFile(file, 'utf8').catch(() => '')).trim();

/** Reads it; what the host does not tell is empty. */
export async function hostIdentity(): Promise<HostIdentity> {
  const [machineID, productUuid, bootID, osRelease, memory] = await Promise.all(
    ['/etc/machine-id', '/sys/class/dmi/id/product_uuid', '/proc/sys/kernel/random/boot_id', '/etc/os-release']
      .concat('/proc/meminfo')
      .map(textOf),
  );
  const swap = swapCapacity(memory ?? '');
  return {
    machineID: machineID ?? '',
    systemUUID: productUuid || machineID || '',
    bootID: bootID ?? '',
    kernelVersion: release(),
    osImage: /^PRETTY_NAME="?([^"\n]*)/m.exec(osRelease ?? '')?.[1] ?? '',
    architecture: goArchitecture(arch()),
    kubeletVersion: kubeletVersion(),
    ...(swap > 0 ? { swap: { capacity: swap } } : {}),
  };
}
