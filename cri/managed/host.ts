import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findProgram, firstExecutable } from '../../host/program.ts';
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

/** Returns why this host cannot run a private containerd, as the end of a sentence, or undefined if it can. */
export async function managedContainerdObstacle(): Promise<string | undefined> {
  if (process.platform !== 'linux') return `containers need Linux, this is ${process.platform}`;
  if (process.getuid?.() !== 0) return 'containers need root';
  const missing = await listMissingPackages();
  return missing.length === 0 ? undefined : `these Debian packages are missing: ${missing.join(' ')}`;
}

/**
 * Returns the sorted names of the Debian packages that are not installed. A dynamically linked busybox counts as
 * missing.
 */
export async function listMissingPackages(): Promise<string[]> {
  const missing = await Promise.all([
    ...Object.entries(PROGRAM_PACKAGES).map(async ([name, packageName]) =>
      (await findProgram(name)) === undefined ? [packageName] : [],
    ),
    ...Object.entries(STATIC_PROGRAM_PACKAGES).map(async ([name, packageName]) =>
      (await findStaticProgram(name)) ? [] : [packageName],
    ),
  ]);
  const cni = (await findCniPluginDirectory()) === undefined ? ['containernetworking-plugins'] : [];
  return [...new Set([...missing.flat(), ...cni])].sort();
}

/** Returns the directory of the CNI plugins, which differs between distributions. */
export async function findCniPluginDirectory(): Promise<string | undefined> {
  const plugin = await firstExecutable(CNI_DIRECTORIES.map((directory) => join(directory, 'bridge')));
  return plugin === undefined ? undefined : join(plugin, '..');
}

const CAP_SYS_RESOURCE = 1n << 24n;

/** Whether this process, and therefore a runtime that it starts, may lower oom_score_adj. */
export async function canLowerOomScore(): Promise<boolean> {
  const status = await readFile('/proc/self/status', 'utf8');
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1];
  return effective !== undefined && (BigInt(`0x${effective}`) & CAP_SYS_RESOURCE) !== 0n;
}

const TRIAL_PREFIX = 'overlay-trial-';

/** Removes the directories and mounts of interrupted mount trials. */
async function removeTrials(directory: string): Promise<void> {
  const trials = (await readdir(directory)).filter((name) => name.startsWith(TRIAL_PREFIX));
  for (const trial of trials.map((name) => join(directory, name))) {
    // The directory may not be mounted. A directory that cannot be removed does no harm.
    await run('umount', [join(trial, 'merged')], { signal: new AbortController().signal }).catch(() => {});
    await rm(trial, { recursive: true, force: true }).catch(() => {});
  }
}

/**
 * Returns the snapshotter for a directory. A directory on overlayfs cannot contain another overlay, so this is
 * determined by a trial mount.
 */
export async function chooseSnapshotter(directory: string, signal: AbortSignal): Promise<'overlayfs' | 'native'> {
  await removeTrials(directory);
  const trial = await mkdtemp(join(directory, TRIAL_PREFIX));
  const trialPath = (name: string) => join(trial, name);
  try {
    await Promise.all(['lower', 'upper', 'work', 'merged'].map((name) => mkdir(trialPath(name))));
    const layers = `lowerdir=${trialPath('lower')},upperdir=${trialPath('upper')},workdir=${trialPath('work')}`;
    await run('mount', ['-t', 'overlay', 'overlay', '-o', layers, trialPath('merged')], { signal });
    // Not cancelled by the signal, because otherwise the mount would remain.
    await run('umount', [trialPath('merged')], { signal: new AbortController().signal });
    return 'overlayfs';
  } catch {
    signal.throwIfAborted();
    return 'native';
  } finally {
    await rm(trial, { recursive: true, force: true });
  }
}

/** Returns the MTU of the interface with the default route, or undefined if there is none. */
export async function readUplinkMtu(): Promise<number | undefined> {
  const routes = await readFile('/proc/net/route', 'utf8');
  const uplink = /^(\S+)\t00000000\t/m.exec(routes)?.[1];
  return uplink === undefined ? undefined : Number(await readFile(`/sys/class/net/${uplink}/mtu`, 'utf8'));
}
