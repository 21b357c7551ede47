import { existsSync, readdirSync } from 'node:fs';
import { listMissingPackages } from '../../cri/managed/host.ts';
import { findProgram } from '../../host/program.ts';
import { printProgress } from './places.mjs';
import { runStep } from './runForeground.mjs';

/**
 * Packages of the programs that only some commands run. The tests need them for the systemd unit, logind on a
 * private message bus, the shell completions and the page.
 */
const packagesByProgram = {
  test: {
    'systemd-analyze': 'systemd',
    zsh: 'zsh',
    fish: 'fish',
    chromium: 'chromium',
    openssl: 'openssl',
    'dbus-daemon': 'dbus',
    python3: 'python3',
  },
  vm: {
    'qemu-system-x86_64': 'qemu-system-x86',
    mmdebstrap: 'mmdebstrap',
    mke2fs: 'e2fsprogs',
    ssh: 'openssh-client',
  },
};

/**
 * Installs the missing Debian packages of the container runtime and of the programs that only this command runs. Does
 * nothing unless run as root on a host with apt-get, because the command itself reports missing programs.
 */
export async function installDebianPackages(command) {
  if (process.platform !== 'linux' || process.getuid() !== 0) return;
  const aptGet = await findProgram('apt-get');
  if (aptGet === undefined) return;
  const missingPackages = await listMissingPackages();
  for (const [program, debianPackage] of Object.entries(packagesByProgram[command] ?? {})) {
    if ((await findProgram(program)) === undefined) missingPackages.push(debianPackage);
  }
  if (missingPackages.length === 0) return;
  printProgress(`installing ${missingPackages.join(', ')} with apt-get`);
  const installArguments = ['install', '-y', '--no-install-recommends', ...missingPackages];
  if (hasPackageLists() && (await isSuccessful(aptGet, installArguments))) return;
  await isSuccessful(aptGet, ['update']);
  if (!(await isSuccessful(aptGet, installArguments)))
    printProgress(`apt-get could not install ${missingPackages.join(', ')}`);
}

/** Whether apt's package lists exist, which is not the case in a fresh container image. */
function hasPackageLists() {
  const listsDirectory = '/var/lib/apt/lists';
  return existsSync(listsDirectory) && readdirSync(listsDirectory).some((name) => name.includes('_Packages'));
}

async function isSuccessful(aptGet, args) {
  const options = ['-qq', '-o', 'DPkg::Lock::Timeout=120', '-o', 'Dpkg::Use-Pty=0'];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return (await runStep(aptGet, [...options, ...args], { env, stdio: ['ignore', 2, 2] })) === 0;
}
