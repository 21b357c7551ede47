import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findFirstExecutable, findProgram } from '../../host/program.ts';
import { run } from './program.ts';
import { findStaticProgram } from './staticProgram.ts';

/** Programs that a private containerd needs, each with the Debian package that contains it. */
const PROGRAM_PACKAGES: Readonly<Record<string, string>> = {
  containerd: 'containerd',
  ctr: 'containerd',
  'containerd-shim-runc-v2': 'containerd',
  runc: 'runc',
  ip: 'iproute2',
  iptables: 'iptables',
};

/** Static programs from which images are built, each with the Debian package that contains it. */
const STATIC_PROGRAM_PACKAGES: Readonly<Record<string, string>> = { busybox: 'busybox-static', catatonit: 'catatonit' };

const CNI_DIRECTORIES = ['/usr/lib/cni', '/opt/cni/bin', '/usr/libexec/cni'];

/**
 * Returns the reason why this host cannot run a private containerd, phrased as the end of a sentence. Returns undefined
 * if it can.
 */
export async function findManagedContainerdObstacle(): Promise<string | undefined> {
  if (process.platform !== 'linux') return `containers need Linux, this is ${process.platform}`;
  if (process.getuid?.() !== 0) return 'containers need root';
  const missingPackages = await listMissingPackages();
  return missingPackages.length === 0 ? undefined : `these Debian packages are missing: ${missingPackages.join(' ')}`;
}

/**
 * Returns the sorted names of the Debian packages that are not installed. A dynamically linked busybox is considered
 * missing.
 */
export async function listMissingPackages(): Promise<string[]> {
  const missingPackages = await Promise.all([
    ...Object.entries(PROGRAM_PACKAGES).map(async ([name, packageName]) =>
      (await findProgram(name)) === undefined ? [packageName] : [],
    ),
    ...Object.entries(STATIC_PROGRAM_PACKAGES).map(async ([name, packageName]) =>
      (await findStaticProgram(name)) ? [] : [packageName],
    ),
  ]);
  const cni = (await findCniPluginDirectory()) === undefined ? ['containernetworking-plugins'] : [];
  return [...new Set([...missingPackages.flat(), ...cni])].sort();
}

/** Returns the directory of the CNI plugins, which differs between distributions. */
export async function findCniPluginDirectory(): Promise<string | undefined> {
  const bridgePluginPath = await findFirstExecutable(CNI_DIRECTORIES.map((directory) => join(directory, 'bridge')));
  return bridgePluginPath === undefined ? undefined : join(bridgePluginPath, '..');
}

const CAP_SYS_RESOURCE = 1n << 24n;

/** Whether this process, and therefore a runtime that it starts, may lower oom_score_adj. */
export async function canLowerOomScore(): Promise<boolean> {
  const status = await readFile('/proc/self/status', 'utf8');
  const effectiveCapabilities = /^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1];
  return effectiveCapabilities !== undefined && (BigInt(`0x${effectiveCapabilities}`) & CAP_SYS_RESOURCE) !== 0n;
}

const TRIAL_DIRECTORY_PREFIX = 'overlay-trial-';

/** Removes the mounts and directories that interrupted trial mounts left behind. */
async function removeMountTrials(directory: string): Promise<void> {
  const trialDirectories = (await readdir(directory)).filter((name) => name.startsWith(TRIAL_DIRECTORY_PREFIX));
  for (const trial of trialDirectories.map((name) => join(directory, name))) {
    // Ignore errors, because the directory may not be mounted, and a leftover directory does no harm.
    await run('umount', [join(trial, 'merged')], { signal: new AbortController().signal }).catch(() => {});
    await rm(trial, { recursive: true, force: true }).catch(() => {});
  }
}

/**
 * Returns the snapshotter for a directory. Performs a trial mount, because overlayfs does not work on all file systems,
 * e.g. not on another overlay.
 */
export async function chooseSnapshotter(directory: string, signal: AbortSignal): Promise<'overlayfs' | 'native'> {
  await removeMountTrials(directory);
  const trialDirectory = await mkdtemp(join(directory, TRIAL_DIRECTORY_PREFIX));
  const trialPath = (name: string) => join(trialDirectory, name);
  try {
    await Promise.all(['lower', 'upper', 'work', 'merged'].map((name) => mkdir(trialPath(name))));
    const layers = `lowerdir=${trialPath('lower')},upperdir=${trialPath('upper')},workdir=${trialPath('work')}`;
    await run('mount', ['-t', 'overlay', 'overlay', '-o', layers, trialPath('merged')], { signal });
    // Do not use the caller's signal, because the mount would remain after an abort.
    await run('umount', [trialPath('merged')], { signal: new AbortController().signal });
    return 'overlayfs';
  } catch {
    signal.throwIfAborted();
    return 'native';
  } finally {
    await rm(trialDirectory, { recursive: true, force: true });
  }
}

/** Returns the MTU of the interface with the default route, or undefined if there is none. */
export async function readUplinkMtu(): Promise<number | undefined> {
  const routes = await readFile('/proc/net/route', 'utf8');
  const uplinkName = /^(\S+)\t00000000\t/m.exec(routes)?.[1];
  return uplinkName === undefined ? undefined : Number(await readFile(`/sys/class/net/${uplinkName}/mtu`, 'utf8'));
}
