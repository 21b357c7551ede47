/** Builds the disk image of the virtual machine from Debian packages, and caches it. */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

const RELEASE = 'trixie';

/** Packages of the image besides Debian's essential ones. */
const PACKAGES = [
  'linux-image-cloud-amd64',
  'systemd-sysv',
  'udev',
  'dbus',
  'openssh-server',
  'containerd',
  'containernetworking-plugins',
  'iptables',
  'iproute2',
  'procps',
  'curl',
];

/** Size of the file system. The image is a sparse file, so only its contents take up space. */
const DISK_SIZE = '6G';

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

/** A bootable image. A virtual machine never writes to it. */
export interface VmImage {
  /** The root file system, without partitions. */
  readonly disk: string;
  readonly kernel: string;
  readonly initrd: string;
  /** Private key that is authorized for root. */
  readonly sshKey: string;
  /** The machine's host key under the name `vm`, in known_hosts format. */
  readonly knownHosts: string;
}

export interface ImageBuild {
  /** Directory of the cached images. */
  readonly cacheDirectory: string;
  /** Directory whose files are copied over those of the packages. */
  readonly filesDirectory: string;
  /** Returns the URL of the mirror from which the host installs its packages. */
  readonly findArchive: () => Promise<string>;
  /** Returns the settings with which the host's apt downloads files, such as a proxy. */
  readonly readAptOptions: () => Promise<readonly string[]>;
  /** Runs one step of the build, and rejects if it fails. */
  readonly runStep: (program: string, args: readonly string[]) => Promise<void>;
  /** Whether to build the image again with the current packages, even if it is cached. */
  readonly rebuild: boolean;
  /** Called before a build with the directory of the unfinished image. */
  readonly onBuild: (workDirectory: string) => void;
}

/** Returns the directory of the cached images, outside of the checkout so that all checkouts share them. */
export const imageCacheDirectory = (environment: Readonly<Record<string, string | undefined>>): string =>
  join(environment.XDG_CACHE_HOME || join(homedir(), '.cache'), 'statelet', 'vm');

/** Returns the cached image, or builds it. An image with different packages or files has a different directory. */
export async function provideImage(build: ImageBuild): Promise<VmImage> {
  const directory = join(build.cacheDirectory, await recipeHash(build.filesDirectory));
  await mkdir(build.cacheDirectory, { recursive: true });
  if (existsSync(directory) && !build.rebuild) return imageIn(directory);
  const workDirectory = await mkdtemp(join(build.cacheDirectory, 'next-'));
  build.onBuild(workDirectory);
  try {
    await buildImage(build, workDirectory);
    await rm(directory, { recursive: true, force: true });
    await rename(workDirectory, directory);
  } finally {
    await rm(workDirectory, { recursive: true, force: true });
  }
  return imageIn(directory);
}

const imageIn = (directory: string): VmImage => ({
  disk: join(directory, 'disk.ext4'),
  kernel: join(directory, 'vmlinuz'),
  initrd: join(directory, 'initrd.img'),
  sshKey: join(directory, 'ssh_key'),
  knownHosts: join(directory, 'known_hosts'),
});

/** Returns a hash of everything in the checkout that determines the image. */
async function recipeHash(filesDirectory: string): Promise<string> {
  const hash = createHash('sha256').update(await readFile(import.meta.filename));
  const entries = await readdir(filesDirectory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  for (const file of files.toSorted()) {
    hash.update(`\0${file.slice(filesDirectory.length)}\0`).update(await readFile(file));
  }
  return hash.digest('hex').slice(0, 16);
}

async function buildImage(build: ImageBuild, workDirectory: string): Promise<void> {
  const { filesDirectory, findArchive, readAptOptions, runStep } = build;
  const image = imageIn(workDirectory);
  const root = join(workDirectory, 'root');
  const aptOptions = [
    'APT::Install-Recommends "false"',
    'Acquire::Languages "none"',
    // Download as root, because the cache may be in a home directory that apt's sandbox user (`_apt`) cannot access.
    'APT::Sandbox::User "root"',
    ...(await readAptOptions()),
  ];
  await runStep('mmdebstrap', [
    '--mode=root',
    '--variant=minbase',
    ...aptOptions.map((option) => `--aptopt=${option}`),
    `--include=${PACKAGES.join(',')}`,
    RELEASE,
    root,
    `deb [signed-by=${KEYRING}] ${await findArchive()} ${RELEASE} main`,
  ]);
  await cp(filesDirectory, root, { recursive: true });
  // Write a fixed ID, because systemd enables the units of all packages on the first boot of a machine without an ID.
  await writeFile(join(root, 'etc/machine-id'), `${randomBytes(16).toString('hex')}\n`);
  await runStep('chroot', [root, 'systemctl', '--quiet', 'enable', 'systemd-networkd']);
  await runStep('chroot', [root, 'systemctl', '--quiet', 'mask', 'apt-daily.timer', 'apt-daily-upgrade.timer']);
  await runStep('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'statelet-vm', '-f', image.sshKey]);
  await mkdir(join(root, 'root/.ssh'), { mode: 0o700, recursive: true });
  await cp(`${image.sshKey}.pub`, join(root, 'root/.ssh/authorized_keys'));
  const hostKey = await readFile(join(root, 'etc/ssh/ssh_host_ed25519_key.pub'), 'utf8');
  await writeFile(image.knownHosts, `vm ${hostKey}`);
  await copyBootFile(root, 'vmlinuz-', image.kernel);
  await copyBootFile(root, 'initrd.img-', image.initrd);
  await runStep('mke2fs', ['-q', '-t', 'ext4', '-d', root, image.disk, DISK_SIZE]);
  await rm(root, { recursive: true });
}

/** Copies the only file in /boot whose name starts with `prefix`. The name ends with the kernel version. */
async function copyBootFile(root: string, prefix: string, target: string): Promise<void> {
  const bootDirectory = join(root, 'boot');
  const name = (await readdir(bootDirectory)).find((each) => each.startsWith(prefix));
  if (name === undefined) throw new Error(`the packages of the image contain no /boot/${prefix}*`);
  await cp(join(bootDirectory, name), target);
}
