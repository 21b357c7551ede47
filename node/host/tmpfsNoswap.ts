import { mkdtemp, readFile, rmdir } from 'node:fs/promises';
import { release } from 'node:os';
import { join } from 'node:path';
import { hostMounter } from '../../volume/mount/hostMounter.ts';
import type { Mounter } from '../../volume/mount/mounter.ts';

/** The first kernel whose tmpfs has the option `noswap`, as major and minor version. */
const FIRST_VERSION = [6, 4] as const;

/** Content of `uid_map` in the initial user namespace. */
const IDENTITY_MAP = '0 0 4294967295';

interface NoswapDependencies {
  /**
   * The node's root directory. A tmpfs is mounted in it briefly if support cannot be inferred from the kernel version.
   */
  readonly directory: string;
  readonly kernelRelease?: string;
  readonly uidMap?: string;
  readonly mounter?: Pick<Mounter, 'mount' | 'unmount'>;
}

/**
 * Whether a tmpfs can be mounted with the option `noswap`, so that its contents are never written to disk
 * (`IsTmpfsNoswapOptionSupported` in `pkg/kubelet/util/swap/swap_util.go`).
 */
export async function supportsTmpfsNoswap({
  directory,
  kernelRelease = release(),
  uidMap,
  mounter = hostMounter,
}: NoswapDependencies): Promise<boolean> {
  const currentMap = uidMap ?? (await readFile('/proc/self/uid_map', 'utf8').catch(() => ''));
  if (currentMap.trim().split(/\s+/).join(' ') !== IDENTITY_MAP) return false;
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(kernelRelease) ?? [];
  const [firstMajor, firstMinor] = FIRST_VERSION;
  if (Number(major) > firstMajor || (Number(major) === firstMajor && Number(minor) >= firstMinor)) return true;
  // Try to mount a tmpfs with the option, because some distributions have backported it to older kernels.
  return canMountNoswap(directory, mounter).catch(() => false);
}

async function canMountNoswap(directory: string, mounter: Pick<Mounter, 'mount' | 'unmount'>): Promise<boolean> {
  const target = await mkdtemp(join(directory, 'tmpfs-noswap-test-'));
  const { signal } = new AbortController();
  try {
    await mounter.mount({ source: 'tmpfs', target, type: 'tmpfs', options: ['noswap'], signal });
    await mounter.unmount(target, signal);
    return true;
  } finally {
    // If the tmpfs is still mounted, this call fails, so that the option counts as unsupported.
    await rmdir(target);
  }
}
