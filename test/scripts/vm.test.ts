/** The virtual machine of `npm run vm`, with stand-ins for QEMU and the tools that build its image. */
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type ImageBuild, imageCacheDirectory, provideImage } from '../../scripts/vm/image.ts';
import { bootMachine, qemuArguments } from '../../scripts/vm/machine.ts';
import { sshConfig } from '../../scripts/vm/ssh.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { startStatelet } from '../e2e/support/statelet.ts';
import { root } from '../support/root.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'statelet-vm-test-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const image = {
  disk: '/cache/disk.ext4',
  kernel: '/cache/vmlinuz',
  initrd: '/cache/initrd.img',
  sshKey: '/cache/ssh_key',
  knownHosts: '/cache/known_hosts',
};

const secondDisk = '/tmp/package.tar';

describe('the image', () => {
  let steps: string[];

  /** Pretends to run a step, and writes the files that later steps read. */
  const runStep = async (program: string, args: readonly string[]): Promise<void> => {
    steps.push([program, ...args].join(' '));
    if (program === 'mmdebstrap') {
      const target = args.at(-2) ?? '';
      for (const folder of ['boot', 'etc/ssh']) await mkdir(join(target, folder), { recursive: true });
      await writeFile(join(target, 'boot/vmlinuz-6.12'), 'kernel');
      await writeFile(join(target, 'boot/initrd.img-6.12'), 'initrd');
      await writeFile(join(target, 'etc/ssh/ssh_host_ed25519_key.pub'), 'ssh-ed25519 AAAA root@vm\n');
      await mkdir(join(target, 'root'));
    }
    if (program === 'ssh-keygen') await writeFile(`${args.at(-1)}.pub`, 'ssh-ed25519 BBBB statelet-vm\n');
    if (program === 'mke2fs') await writeFile(args.at(-2) ?? '', 'disk');
  };

  const build = (changes: Partial<ImageBuild> = {}): ImageBuild => ({
    cacheDirectory: join(directory, 'cache'),
    filesDirectory: join(directory, 'files'),
    findArchive: async () => 'http://mirror.example/debian/',
    readAptOptions: async () => ['Acquire::http::Proxy "http://proxy.example"'],
    runStep,
    rebuild: false,
    onBuild: () => {},
    ...changes,
  });
  const builds = () => steps.filter((step) => step.startsWith('mmdebstrap ')).length;

  beforeEach(async () => {
    steps = [];
    await mkdir(join(directory, 'files/etc'), { recursive: true });
    await writeFile(join(directory, 'files/etc/hostname'), 'vm\n');
  });

  test('is built once from the package mirror of the host, with the apt settings of the host', async () => {
    const built = await provideImage(build());
    expect(steps[0]).toMatch(/ deb \[signed-by=\S+] http:\/\/mirror\.example\/debian\/ trixie main$/);
    expect(steps[0]).toContain('--aptopt=Acquire::http::Proxy "http://proxy.example"');
    expect(await readFile(built.kernel, 'utf8')).toBe('kernel');
    expect(await readFile(built.knownHosts, 'utf8')).toBe('vm ssh-ed25519 AAAA root@vm\n');
    expect(await provideImage(build())).toEqual(built);
    expect(builds()).toBe(1);
  });

  test('is built again on request, and for different files', async () => {
    const built = await provideImage(build());
    expect(await provideImage(build({ rebuild: true }))).toEqual(built);
    expect(builds()).toBe(2);
    await writeFile(join(directory, 'files/etc/hostname'), 'other\n');
    expect((await provideImage(build())).disk).not.toBe(built.disk);
    expect(builds()).toBe(3);
  });

  test('leaves nothing in the cache if a step fails', async () => {
    const failing = build({
      runStep: async (program, args) => {
        if (program === 'mke2fs') throw new Error('mke2fs exited with 1');
        await runStep(program, args);
      },
    });
    await expect(provideImage(failing)).rejects.toThrow('mke2fs exited with 1');
    expect(await readdir(join(directory, 'cache'))).toEqual([]);
  });

  test('is cached outside of the checkout', () => {
    expect(imageCacheDirectory({ XDG_CACHE_HOME: '/var/cache' })).toBe('/var/cache/statelet/vm');
    expect(imageCacheDirectory({})).toMatch(/\/\.cache\/statelet\/vm$/);
    expect(imageCacheDirectory({}).startsWith(root)).toBe(false);
  });
});

test('the machine never writes to its image, and neither it nor its ssh port can be reached from other hosts', () => {
  const args = qemuArguments({ accelerator: 'kvm', image, secondDisk, console: '/tmp/console', port: 2222 });
  expect(args).toEqual(expect.arrayContaining(['-accel', 'kvm']));
  expect(args.join(' ')).toContain('file=/cache/disk.ext4,format=raw,if=virtio,snapshot=on');
  expect(args.join(' ')).toContain('restrict=on,hostfwd=tcp:127.0.0.1:2222-:22');
  expect(sshConfig({ image, port: 2222, controlPath: '/tmp/ssh' })).toContain(
    'UserKnownHostsFile /cache/known_hosts\n',
  );
});

test('the NUMA nodes of the machine contain all of its memory', () => {
  const args = qemuArguments({ accelerator: 'tcg', image, secondDisk, console: '/tmp/console', port: 2222 });
  const sizes = args.flatMap((each) => /^memory-backend-ram,.*size=(\d+)M$/.exec(each)?.[1] ?? []);
  expect(sizes.reduce((sum, size) => sum + Number(size), 0)).toBe(Number(args[args.indexOf('-m') + 1]));
  expect(args.filter((each) => each.startsWith('node,cpus='))).toHaveLength(sizes.length);
});

describe('QEMU', () => {
  /** Writes a stand-in for QEMU that records its process ID and accelerator, and then runs this script. */
  async function qemu(script: string): Promise<string> {
    const program = join(directory, 'qemu');
    await writeFile(program, `#!/bin/sh\necho "$$ $2" >> ${directory}/started\n${script}\n`);
    await chmod(program, 0o755);
    return program;
  }
  const started = async () =>
    (await readFile(join(directory, 'started'), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => line.split(' '));
  const isAlive = (pid: string | undefined) => {
    try {
      return process.kill(Number(pid), 0);
    } catch {
      return false;
    }
  };

  const boot = async (script: string, hasKvm: boolean) => {
    const said: string[] = [];
    const signal = new AbortController().signal;
    const program = await qemu(script);
    const options = { image, secondDisk, directory, signal, program, hasKvm: async () => hasKvm };
    const failure = await bootMachine({ ...options, say: (line) => said.push(line) }).catch((error: Error) => error);
    return { said, failure };
  };

  test('emulates the machine if hardware virtualization does not work, although the device exists', async () => {
    const { said } = await boot(
      'case "$2" in kvm) echo "KVM internal error" >&2; exec sleep 1000 ;; esac; exit 1',
      true,
    );
    expect(said[0]).toBe('hardware virtualization does not work on this host, although /dev/kvm exists');
    const [[kvmPid, kvm] = [], [, tcg] = []] = await started();
    expect([kvm, tcg]).toEqual(['kvm', 'tcg,thread=multi']);
    await eventually('the first one has ended', () => !isAlive(kvmPid));
  });

  test('reports a machine that does not start with its own message', async () => {
    const { failure } = await boot('echo "no such machine" >&2; exit 1', false);
    expect(failure).toEqual(new Error('the virtual machine does not boot\nno such machine'));
  });

  test.each(['SIGTERM', 'SIGKILL'] as const)('exits when the process that started it receives %s', async (name) => {
    const program = await qemu('exec sleep 1000');
    const options = { image, secondDisk, directory, program };
    const script = `const { bootMachine } = await import('${root}/scripts/vm/machine.ts');
      const rest = { say() {}, hasKvm: async () => false, signal: new AbortController().signal };
      await bootMachine({ ...${JSON.stringify(options)}, ...rest });`;
    const parent = startStatelet(['--input-type=module', '-e', script], { by: [process.execPath] });
    const [[pid] = []] = await eventually('it has started', async () => {
      parent.mustLive();
      return started();
    });
    expect(isAlive(pid)).toBe(true);
    parent.kill(name);
    await parent.ended;
    await eventually('it has ended', () => !isAlive(pid));
  });
});
