/** Runs the virtual machine in QEMU. */
import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { VmImage } from './image.ts';
import { bootId, runInVm, sshConfig } from './ssh.ts';

type Accelerator = 'kvm' | 'tcg';

/** A machine that has booted and accepts commands over ssh. */
export interface Machine {
  readonly accelerator: Accelerator;
  /** Configuration file for `ssh -F`, in which the machine is called `vm`. */
  readonly sshConfigFile: string;
  /** Kills QEMU. Everything that the machine has written is lost. */
  kill(): void;
}

interface MachineOptions {
  readonly image: VmImage;
  /**
   * File that the machine reads as its second disk. Copying the file over ssh would take minutes in an emulated
   * machine.
   */
  readonly secondDisk: string;
  /** Directory for the console's output and the ssh connection. */
  readonly directory: string;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
  /** The emulator. Only tests replace `program` and `hasKvm`. */
  readonly program?: string;
  readonly hasKvm?: () => Promise<boolean>;
}

const KVM_DEVICE = '/dev/kvm';

/** Timeout in milliseconds for the kernel to print its first line under KVM, which normally takes about a second. */
const FIRST_LINE_MS = 30_000;
/** Timeout in milliseconds for booting without hardware virtualization on a busy host. */
const BOOT_MS = 900_000;
const POLL_MS = 500;

/** Number of lines of the console that are shown if the machine does not boot. */
const SHOWN_LINES = 20;

/**
 * Boots a machine with hardware virtualization or, if that does not work, without it. Virtualization can fail although
 * the KVM device exists, because some nested hypervisors cannot run an unmodified kernel.
 */
export async function bootMachine(options: MachineOptions): Promise<Machine> {
  const { say, hasKvm = isKvmAccessible } = options;
  if (await hasKvm()) {
    const qemu = await startQemu('kvm', options);
    if (await printsFirstLine(qemu, options.signal)) return waitForSsh(qemu, options);
    qemu.kill();
    say(`hardware virtualization does not work on this host, although ${KVM_DEVICE} exists`);
  }
  say('the machine is emulated in software, which takes several minutes');
  return waitForSsh(await startQemu('tcg', options), options);
}

const isKvmAccessible = (): Promise<boolean> =>
  access(KVM_DEVICE, constants.R_OK | constants.W_OK).then(
    () => true,
    () => false,
  );

interface Qemu {
  readonly accelerator: Accelerator;
  readonly process: ChildProcess;
  readonly console: string;
  readonly port: number;
  /** Returns what QEMU has written to its standard error. */
  readonly errors: () => string;
  kill(): void;
}

async function startQemu(accelerator: Accelerator, options: MachineOptions): Promise<Qemu> {
  const { image, secondDisk, directory, program = 'qemu-system-x86_64' } = options;
  const console = join(directory, `console-${accelerator}.log`);
  const port = await findFreePort();
  // QEMU is killed by the kernel when this process exits, even if this process is killed with SIGKILL.
  const qemuArgs = qemuArguments({ accelerator, image, secondDisk, console, port });
  const args = ['--pdeathsig', 'KILL', '--', program, ...qemuArgs];
  await writeFile(console, '');
  // Start QEMU in a separate process group, so that a Ctrl-C reaches only this process.
  const child = spawn('setpriv', args, { detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  child.once('error', (error) => {
    errors += error.message;
  });
  const kill = () => {
    child.kill('SIGKILL');
  };
  process.once('exit', kill);
  child.once('close', () => process.off('exit', kill));
  return { accelerator, process: child, console, port, errors: () => errors.trim(), kill };
}

export function qemuArguments({
  accelerator,
  image,
  secondDisk,
  console,
  port,
}: {
  readonly accelerator: Accelerator;
  readonly image: Pick<VmImage, 'disk' | 'kernel' | 'initrd'>;
  readonly secondDisk: string;
  readonly console: string;
  /** Port on the loopback interface that is forwarded to the machine's sshd. */
  readonly port: number;
}): string[] {
  return [
    ['-accel', accelerator === 'tcg' ? 'tcg,thread=multi' : accelerator],
    ['-machine', 'q35'],
    // Disable this feature, because nested hypervisors reject writes to the register that it adds.
    ['-cpu', 'max,arch-capabilities=off'],
    ['-smp', '2'],
    ['-m', '2048'],
    // Two NUMA nodes, each with a CPU and half of the memory.
    ['-object', 'memory-backend-ram,id=memory0,size=1024M'],
    ['-object', 'memory-backend-ram,id=memory1,size=1024M'],
    ['-numa', 'node,cpus=0,memdev=memory0'],
    ['-numa', 'node,cpus=1,memdev=memory1'],
    ['-nodefaults', '-no-user-config'],
    ['-display', 'none'],
    ['-kernel', image.kernel],
    ['-initrd', image.initrd],
    // Disable the mitigations, because they slow down an emulated machine and protect nothing in it. Disable the timer
    // check, because the timer can be slow enough on a busy host for the kernel to refuse to boot.
    ['-append', 'root=/dev/vda rw console=ttyS0 mitigations=off no_timer_check'],
    // Write changes to a temporary file instead of the image. The file persists across reboots of the machine.
    ['-drive', `file=${image.disk},format=raw,if=virtio,snapshot=on,cache=unsafe`],
    ['-drive', `file=${secondDisk},format=raw,if=virtio,readonly=on`],
    // Restrict the network, so that the machine cannot connect to any other host.
    ['-netdev', `user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:${port}-:22`],
    ['-device', 'virtio-net-pci,netdev=net'],
    ['-device', 'virtio-rng-pci'],
    ['-serial', `file:${console}`],
  ].flat();
}

function findFreePort(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const server = createServer();
  server.once('error', reject);
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    server.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0));
  });
  return promise;
}

const hasExited = ({ process: { exitCode, signalCode, pid } }: Qemu): boolean =>
  exitCode !== null || signalCode !== null || pid === undefined;

/**
 * Waits until the kernel has printed a line. Returns false if QEMU exits, KVM fails or the time limit expires before
 * that.
 */
async function printsFirstLine(qemu: Qemu, signal: AbortSignal): Promise<boolean> {
  const deadline = performance.now() + FIRST_LINE_MS;
  while (performance.now() < deadline && !hasExited(qemu) && !qemu.errors().includes('KVM internal error')) {
    if ((await readFile(qemu.console, 'utf8')).includes('\n')) return true;
    await pause(POLL_MS, undefined, { signal });
  }
  return false;
}

async function waitForSsh(qemu: Qemu, { image, directory, signal }: MachineOptions): Promise<Machine> {
  const sshConfigFile = join(directory, 'ssh_config');
  await writeFile(sshConfigFile, sshConfig({ image, port: qemu.port, controlPath: join(directory, 'ssh') }));
  const deadline = performance.now() + BOOT_MS;
  while (!hasExited(qemu) && performance.now() < deadline) {
    const isUp = await bootId(sshConfigFile, signal).then(
      () => true,
      () => false,
    );
    signal.throwIfAborted();
    if (isUp) {
      // Ignore exit code 1, because it only means that a unit has failed, which a test will report.
      await runInVm(sshConfigFile, 'systemctl is-system-running --wait || true', { signal });
      return { accelerator: qemu.accelerator, sshConfigFile, kill: qemu.kill };
    }
    await pause(POLL_MS, undefined, { signal });
  }
  qemu.kill();
  const lines = (await readFile(qemu.console, 'utf8')).trimEnd().split('\n').slice(-SHOWN_LINES);
  throw new Error(['the virtual machine does not boot', qemu.errors(), ...lines].filter(Boolean).join('\n'));
}
