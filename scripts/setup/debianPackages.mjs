import { existsSync, readdirSync } from 'node:fs';
import { missingPackages } from '../../cri/managed/host.ts';
import { say } from './places.mjs';
import { runForeground } from './runForeground.mjs';

/**
 * Installs the Debian packages that a real container runtime needs and that are missing. It does so only as root on a
 * host with apt-get; otherwise, and when it fails, the command itself tells what it does without them.
 */
export async function installDebianPackages() {
  if (process.platform !== 'linux' || process.getuid() !== 0 || !existsSync('/usr/bin/apt-get')) return;
  const missing = await missingPackages();
  if (missing.length === 0) return;
  say(`installing ${missing.join(', ')} with apt-get`);
  const install = ['install', '-y', '--no-install-recommends', ...missing];
  if (hasLists() && (await aptGet(install))) return;
  await aptGet(['update']);
  if (!(await aptGet(install))) say(`apt-get could not install ${missing.join(', ')}`);
}

/** A fresh container image comes without the lists of packages. */
function hasLists() {
  const directory = '/var/lib/apt/lists';
  return existsSync(directory) && readdirSync(directory).some((name) => name.includes('_Packages'));
}

async function aptGet(args) {
  const options = ['-qq', '-o', 'DPkg::Lock::Timeout=120', '-o', 'Dpkg::Use-Pty=0'];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return (await runForeground('/usr/bin/apt-get', [...options, ...args], { env, stdio: ['ignore', 2, 2] })) === 0;
}
