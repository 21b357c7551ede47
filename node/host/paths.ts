import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { socketPath } from '../../socket/socketPath.ts';

/**
 * Returns the directory of the installed package, regardless of whether the agent runs from the sources or from the
 * bundle.
 */
export function packageDirectory(): string {
  let directory = import.meta.dirname;
  while (!existsSync(join(directory, 'package.json')) && dirname(directory) !== directory)
    directory = dirname(directory);
  return directory;
}

/** Returns the version in the package.json of this package. Empty if it has none. */
export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packageDirectory(), 'package.json'), 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : '';
}

/** Default root directory of the kubelet. */
export const kubeletDirectory = '/var/lib/kubelet';

/** State directory of `up` if it runs as root. */
export const systemStateDirectory = '/var/lib/statelet';

/** Default root directory of `run`, which differs from those of the kubelet and of `up`. */
export const runDirectory = join(systemStateDirectory, 'run');

function ownStateDirectory(): string {
  return join(process.env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'statelet');
}

/** Returns the state directory that `STATELET_STATE_DIR` sets for `up` and for the commands that query it. */
const environmentStateDirectory = (): string | undefined => process.env.STATELET_STATE_DIR || undefined;

/** Returns the default state directory of `up`. Users other than root cannot write to the system's directory. */
export function defaultStateDirectory(): string {
  const configuredDirectory = environmentStateDirectory();
  if (configuredDirectory !== undefined) return configuredDirectory;
  return process.getuid?.() === 0 ? systemStateDirectory : ownStateDirectory();
}

/** Returns the directories below the state directory of `up`. */
export function stateLayout(stateDirectory: string): {
  readonly rootDirectory: string;
  readonly podLogsDirectory: string;
  readonly devicePluginDirectory: string;
  readonly containerdDirectory: string;
} {
  return {
    rootDirectory: join(stateDirectory, 'kubelet'),
    podLogsDirectory: join(stateDirectory, 'log', 'pods'),
    devicePluginDirectory: join(stateDirectory, 'device-plugins'),
    containerdDirectory: join(stateDirectory, 'containerd'),
  };
}

export const recordingDirectory = (rootDirectory: string): string => join(rootDirectory, 'statelet', 'recording');

interface DirectoryFlags {
  readonly rootDir?: string;
  readonly stateDir?: string;
}

/**
 * Returns the paths of the sockets that a running agent may serve. They are below the directory that the flags set or,
 * if no flag sets one, below each default directory.
 */
export const candidateSockets = (flags: DirectoryFlags): string[] => candidateRoots(flags).map(socketPath);

/**
 * Whether flags or `STATELET_STATE_DIR` set the directory of the agent, in which case the default directories are not
 * searched.
 */
export const isAgentDirectorySet = (flags: DirectoryFlags): boolean =>
  (flags.rootDir ?? flags.stateDir ?? environmentStateDirectory()) !== undefined;

/**
 * Returns the root directories in which an agent may run: those that the flags or the environment set, or else all
 * default ones.
 */
export function candidateRoots({ rootDir, stateDir: stateDirFlag }: DirectoryFlags): string[] {
  const stateDir = stateDirFlag ?? (rootDir === undefined ? environmentStateDirectory() : undefined);
  const rootDirectoryBelow = (directory: string) => stateLayout(directory).rootDirectory;
  const rootCandidates =
    rootDir !== undefined || stateDir !== undefined
      ? [rootDir, stateDir === undefined ? undefined : rootDirectoryBelow(stateDir)]
      : [
          runDirectory,
          kubeletDirectory,
          rootDirectoryBelow(systemStateDirectory),
          rootDirectoryBelow(ownStateDirectory()),
        ];
  return rootCandidates.filter((root) => root !== undefined);
}

/**
 * Returns the tmpfs directory for a node's API objects, which may contain secrets and must not be written to a disk.
 */
export function objectsDirectory(rootDirectory: string): string {
  const runtimeDirectory = process.getuid?.() === 0 ? '/run' : process.env.XDG_RUNTIME_DIR || '/run';
  const digest = createHash('sha256').update(rootDirectory).digest('hex').slice(0, 16);
  return join(runtimeDirectory, 'statelet', digest);
}
