/** Runs commands in the virtual machine. */
import { runProgram } from '../../host/program.ts';
import type { VmImage } from './image.ts';

/** Timeout of a command in milliseconds. An emulated machine takes 20 s just to start Node.js. */
const COMMAND_MS = 300_000;

/** Returns the configuration with which `ssh vm` reaches the machine. All commands share one connection. */
export const sshConfig = ({
  image,
  port,
  controlPath,
}: {
  readonly image: Pick<VmImage, 'sshKey' | 'knownHosts'>;
  readonly port: number;
  /** Path of the shared connection's socket. */
  readonly controlPath: string;
}): string => `Host vm
  HostName 127.0.0.1
  HostKeyAlias vm
  Port ${port}
  User root
  IdentityFile ${image.sshKey}
  IdentitiesOnly yes
  UserKnownHostsFile ${image.knownHosts}
  BatchMode yes
  LogLevel ERROR
  ConnectTimeout 60
  ControlMaster auto
  ControlPath ${controlPath}
  ControlPersist yes
  ServerAliveInterval 30
  ServerAliveCountMax 4
`;

interface CommandOptions {
  readonly signal: AbortSignal;
  readonly input?: string | Buffer;
  readonly timeoutMs?: number;
}

/** Runs a shell command in the machine and returns its standard output. Rejects if it fails. */
export const runInVm = (sshConfigFile: string, command: string, options: CommandOptions): Promise<string> =>
  runProgram('ssh', ['-F', sshConfigFile, 'vm', command], { timeoutMs: COMMAND_MS, ...options });

/** Returns an ID that changes with each boot of the machine. Rejects while the machine accepts no connections. */
export const bootId = (sshConfigFile: string, signal: AbortSignal): Promise<string> =>
  runInVm(sshConfigFile, 'cat /proc/sys/kernel/random/boot_id', { signal });

/** Closes the shared connection, which a reboot would otherwise leave half open. */
export const disconnect = (sshConfigFile: string, signal: AbortSignal): Promise<unknown> =>
  runProgram('ssh', ['-F', sshConfigFile, '-O', 'exit', 'vm'], { signal, timeoutMs: COMMAND_MS }).catch(() => {});

/**
 * Forwards a port on the machine's loopback interface to the same port of this host, until the shared connection is
 * closed. The machine cannot reach any other host.
 */
export const forwardPort = (sshConfigFile: string, port: number, signal: AbortSignal): Promise<unknown> => {
  const forwarding = ['-O', 'forward', '-R', `127.0.0.1:${port}:127.0.0.1:${port}`];
  return runProgram('ssh', ['-F', sshConfigFile, ...forwarding, 'vm'], { signal, timeoutMs: COMMAND_MS });
};

export const cancelForwarding = (sshConfigFile: string, port: number, signal: AbortSignal): Promise<unknown> => {
  const forwarding = ['-O', 'cancel', '-R', `127.0.0.1:${port}:127.0.0.1:${port}`];
  return runProgram('ssh', ['-F', sshConfigFile, ...forwarding, 'vm'], { signal, timeoutMs: COMMAND_MS });
};
