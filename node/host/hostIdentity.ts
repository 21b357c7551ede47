import { readFile } from 'node:fs/promises';
import { arch, release } from 'node:os';
import { goArchitecture } from '../../kubernetes/admission/node.ts';
import { KUBERNETES_VERSION } from '../../kubernetes/api/version.ts';
import type { HostIdentity } from '../../kubernetes/node/nodeObject.ts';
import { swapCapacity } from './cgroups.ts';
import { packageVersion } from './paths.ts';

/** Returns the kubelet version that the node reports, with this package's version as its suffix. */
export const kubeletVersion = (): string => `v${KUBERNETES_VERSION}.0+statelet.${packageVersion()}`;

const readTrimmed = async (file: string): Promise<string> => (await readFile(file, 'utf8').catch(() => '')).trim();

/** Reads the identity of the host for the Node's `status.nodeInfo`. Fields that cannot be read are empty. */
export async function readHostIdentity(): Promise<HostIdentity> {
  const [machineID, productUuid, bootID, osRelease, memory] = await Promise.all(
    ['/etc/machine-id', '/sys/class/dmi/id/product_uuid', '/proc/sys/kernel/random/boot_id', '/etc/os-release']
      .concat('/proc/meminfo')
      .map(readTrimmed),
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
