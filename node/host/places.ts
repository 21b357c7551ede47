import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { socketPath } from '../../socket/socketPath.ts';

/** The directory of the installed package, whether the sources run or the bundle made of them. */
export function packageDirectory(): string {
  let directory = import.meta.dirname;
  while (!existsSync(join(directory, 'package.json')) && dirname(directory) !== directory)
    directory = dirname(directory);
  return directory;
}

/** The version of the installed package. */
export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packageDirectory(), 'package.json'), 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : '';
}

/** Where a kubelet keeps its things unless told otherwise. */
export const kubeletDirectory = '/var/lib/kubelet';

const systemStateDirectory = '/var/lib/statelet';

/** Where `run` keeps its things unless told otherwise: neither a kubelet's place nor that of `up`. */
export const runDirectory = join(systemStateDirectory, 'run');

function ownStateDirectory(): string {
  return join(process.env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'statelet');
}

/** Returns the state directory that `STATELET_STATE_DIR` sets for `up` and for the commands that query it. */
const environmentStateDirectory = (): string | undefined => process.env.STATELET_STATE_DIR || undefined;

/** State directory of `up` without `--state-dir`. Users other than root cannot write to the system's directory. */
export function defaultStateDirectory(): string {
  const fromEnvironment = environmentStateDirectory();
  if (fromEnvironment !== undefined) return fromEnvironment;
  return process.getuid?.() === 0 ? systemStateDirectory : ownStateDirectory();
}

/** What lies where below the state directory of `up`. */
export function stateLayout(stateDirectory: string): {
  readonly rootDirectory: string;
  readonly podLogsDirectory: string;
  readonly containerdDirectory: string;
} {
  return {
    rootDirectory: join(stateDirectory, 'kubelet'),
    podLogsDirectory: join(stateDirectory, 'log', 'pods'),
    containerdDirectory: join(stateDirectory, 'containerd'),
  };
}

/** Where an agent with this root directory records what it does. */
export const recordingDirectory = (rootDirectory: string): string => join(rootDirectory, 'statelet', 'recording');

interface NamedPlaces {
  readonly rootDir?: string;
  readonly stateDir?: string;
}

/** The sockets at which a running agent may answer: the one named, or those of all default places. */
export const candidateSockets = (named: NamedPlaces): string[] => candidateRoots(named).map(socketPath);

/** Whether flags or `STATELET_STATE_DIR` say where the agent is, so that no other agent is meant. */
export const hasNamedPlace = (named: NamedPlaces): boolean =>
  (named.rootDir ?? named.stateDir ?? environmentStateDirectory()) !== undefined;

/** Returns the root directories that an agent may have: the named one, or all default ones. */
export function candidateRoots({ rootDir, stateDir: givenStateDir }: NamedPlaces): string[] {
  const stateDir = givenStateDir ?? (rootDir === undefined ? environmentStateDirectory() : undefined);
  const ofState = (directory: string) => stateLayout(directory).rootDirectory;
  const roots =
    rootDir !== undefined || stateDir !== undefined
      ? [rootDir, stateDir === undefined ? undefined : ofState(stateDir)]
      : [runDirectory, kubeletDirectory, ofState(systemStateDirectory), ofState(ownStateDirectory())];
  return roots.filter((root) => root !== undefined);
}

/** Where the node with this root directory keeps what must not come to rest on a disk: in memory, and gone with the host. */
export function objectsDirectory(rootDirectory: string): string {
  const runtime = process.getuid?.() === 0 ? '/run' : process.env.XDG_RUNTIME_DIR || '/run';
  const digest = createHash('sha256').update(rootDirectory).digest('hex').slice(0, 16);
  return join(runtime, 'statelet', digest);
}
