import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findProgram, firstExecutable } from '../../host/program.ts';
import { run } from './program.ts';
import { findStaticProgram } from './staticProgram.ts';

/** The programs that a private containerd needs, with the Debian packages that bring them. */
const programs: Readonly<Record<string, string>> = {
  containerd: 'containerd',
  ctr: 'containerd',
  'containerd-shim-runc-v2': 'containerd',
  runc: 'runc',
  ip: 'iproute2',
  iptables: 'iptables',
};

/** Those that images are made of. */
const staticPrograms: Readonly<Record<string, string>> = { busybox: 'busybox-static', catatonit: 'catatonit' };

const cniDirectories = ['/usr/lib/cni', '/opt/cni/bin', '/usr/libexec/cni'];

/** Why this host cannot run a private containerd, as the end of a sentence; undefined when it can. */
export async function whyNoManagedContainerd(): Promise<string | undefined> {
  if (process.platform !== 'linux') return `containers need Linux, this is ${process.platform}`;
  if (process.getuid?.() !== 0) return 'containers need root';
  const missing = await missingPackages();
  return missing.length === 0 ? undefined : `these Debian packages are missing: ${missing.join(' ')}`;
}

/** The Debian packages whose programs are not on this host (a dynamic busybox is of another), in order of name. */
export async function missingPackages(): Promise<string[]> {
  const found = await Promise.all([
    ...Object.entries(programs).map(async ([name, from]) => ((await findProgram(name)) === undefined ? [from] : [])),
    ...Object.entries(staticPrograms).map(async ([name, from]) => ((await findStaticProgram(name)) ? [] : [from])),
  ]);
  const cni = (await cniPluginDirectory()) === undefined ? ['containernetworking-plugins'] : [];
  return [...new Set([...found.flat(), ...cni])].sort();
}

/** The directory of the CNI plugins: distributions do not agree on it. */
export async function cniPluginDirectory(): Promise<string | undefined> {
  const plugin = await firstExecutable(cniDirectories.map((directory) => join(directory, 'bridge')));
  return plugin === undefined ? undefined : join(plugin, '..');
}

const capSysResource = 1n << 24n;

/** Whether this process may lower an oom_score_adj, so that a runtime that it starts may do so. */
export async function mayLowerOomScore(): Promise<boolean> {
  const status = await readFile('/proc/self/status', 'utf8');
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1];
  return effective !== undefined && (BigInt(`0x${effective}`) & capSysResource) !== 0n;
}

const TRIAL = 'overlay-trial-';

/** Removes what is left of a trial that was cut off, with what it had mounted. */
async function removeTrials(directory: string): Promise<void> {
  const left = (await readdir(directory)).filter((name) => name.startsWith(TRIAL));
  for (const trial of left.map((name) => join(directory, name))) {
    // It may not be mounted; and one that stays hinders nothing.
    await run('umount', [join(trial, 'merged')], { signal: new AbortController().signal }).catch(() => {});
    await rm(trial, { recursive: true, force: true }).catch(() => {});
  }
}

/** The snapshotter to use below a directory: a directory that lies on an overlay itself cannot hold another. */
export async function chooseSnapshotter(directory: string, signal: AbortSignal): Promise<'overlayfs' | 'native'> {
  await removeTrials(directory);
  const trial = await mkdtemp(join(directory, TRIAL));
  const part = (name: string) => join(trial, name);
  try {
    await Promise.all(['lower', 'upper', 'work', 'merged'].map((name) => mkdir(part(name))));
    const layers = `lowerdir=${part('lower')},upperdir=${part('upper')},workdir=${part('work')}`;
    await run('mount', ['-t', 'overlay', 'overlay', '-o', layers, part('merged')], { signal });
    // To the end, whatever is asked meanwhile: a mount would stay.
    await run('umount', [part('merged')], { signal: new AbortController().signal });
    return 'overlayfs';
  } catch {
    signal.throwIfAborted();
    return 'native';
  } finally {
    await rm(trial, { recursive: true, force: true });
  }
}

/** The largest packet of the interface that leads out of this host; undefined when none does. */
export async function uplinkMtu(): Promise<number | undefined> {
  const routes = await readFile('/proc/net/route', 'utf8');
  const uplink = /^(\S+)\t00000000\t/m.exec(routes)?.[1];
  return uplink === undefined ? undefined : Number(await readFile(`/sys/class/net/${uplink}/mtu`, 'utf8'));
}
