/** Builds the paths of pods' files. Rejects names that would lead outside the intended directory. */
import path from 'node:path';
import { NodeFailure } from '../../base/failure.ts';
import { type FileSystem, hostFiles } from '../files/fileSystem.ts';

/** Mode of a pod's directories below the root directory, which only root and its group can access. */
export const PRIVATE_MODE = 0o750;
/** Mode of log directories, which log collectors can access. */
export const READABLE_MODE = 0o755;

export interface PodIdentity {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/** Absolute paths of the agent's root directory and of the directory of pod logs. */
export interface LayoutFolders {
  readonly rootDir: string;
  readonly podLogsDir: string;
}

/**
 * The paths of a node. Every function throws `FailedValidation` for a name that could lead to a different directory.
 */
export interface Layout {
  /** File system that contains the paths. */
  readonly files: FileSystem;
  /** Directories that this agent is creating or deleting now, as opposed to leftovers of an earlier run. */
  readonly inProgress: Set<string>;
  readonly podsDir: string;
  readonly logLinksDir: string;
  /** `<root>/pods/<uid>` */
  readonly podDir: (uid: string) => string;
  /** `<root>/pods/<uid>/volumes` */
  readonly volumesDir: (uid: string) => string;
  /** `<root>/pods/<uid>/plugins/kubernetes.io~empty-dir/<name>`: a plugin's data about a volume. */
  readonly pluginDir: (uid: string, plugin: string, volume: string) => string;
  /** `<root>/pods/<uid>/volumes/kubernetes.io~empty-dir/<name>`. Slashes in plugin names are replaced by `~`. */
  readonly volumeDir: (uid: string, plugin: string, volume: string) => string;
  /** `<root>/pods/<uid>/volume-subpaths` */
  readonly subPathsDir: (uid: string) => string;
  /** `<root>/pods/<uid>/volume-subpaths/<volume>` */
  readonly volumeSubPathsDir: (uid: string, volume: string) => string;
  /** `<root>/pods/<uid>/volume-subpaths/<volume>/<container>/<index>` */
  readonly subPathDir: (uid: string, volume: string, container: string, index: number) => string;
  /** `<root>/pods/<uid>/containers` */
  readonly terminationLogsDir: (uid: string) => string;
  /** `<root>/pods/<uid>/containers/<name>/<run>`: the termination log of one container run. */
  readonly terminationLog: (uid: string, container: string, run: string) => string;
  /** `<root>/pods/<uid>/etc-hosts` */
  readonly hostsFile: (uid: string) => string;
  /** `<podLogsDir>/<ns>_<name>_<uid>` (C23) */
  readonly podLogDir: (pod: PodIdentity) => string;
  /** `<podLogsDir>/<ns>_<name>_<uid>/<container>` (C23) */
  readonly containerLogDir: (pod: PodIdentity, container: string) => string;
  /**
   * `<podLogsDir>/../containers/<pod>_<ns>_<container>-<id>.log` (C23), shortened to the maximum length of a file name.
   */
  readonly logLink: (pod: PodIdentity, container: string, id: string) => string;
  /** Prefix of the names of a pod's log links. */
  readonly logLinkPrefix: (pod: PodIdentity) => string;
}

const MAX_FILE_NAME_LENGTH = 255;
const LOG_SUFFIX = '.log';
const MAX_LINK_STEM_LENGTH = MAX_FILE_NAME_LENGTH - LOG_SUFFIX.length;
const SAFE_SEGMENT_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/;

/** Returns the layout for the node's directories. */
export function createLayout({ rootDir, podLogsDir }: LayoutFolders, files: FileSystem = hostFiles): Layout {
  const podsDir = path.join(absolutePath(rootDir), 'pods');
  const logLinksDir = path.join(absolutePath(podLogsDir), '..', 'containers');
  const podDir = (uid: string) => path.join(podsDir, checkSegment('pod uid', uid));
  const terminationLogsDir = (uid: string) => path.join(podDir(uid), 'containers');
  const subPathsDir = (uid: string) => path.join(podDir(uid), 'volume-subpaths');
  const getSubPathsDir = (uid: string, volume: string) =>
    path.join(subPathsDir(uid), checkSegment('volume name', volume));
  const podLogDir = (pod: PodIdentity) => path.join(podLogsDir, podLogName(pod));
  return {
    files,
    inProgress: new Set(),
    podsDir,
    logLinksDir,
    podDir,
    volumesDir: (uid) => path.join(podDir(uid), 'volumes'),
    pluginDir: (uid, plugin, volume) =>
      path.join(podDir(uid), 'plugins', pluginSegment(plugin), checkSegment('volume name', volume)),
    volumeDir: (uid, plugin, volume) =>
      path.join(podDir(uid), 'volumes', pluginSegment(plugin), checkSegment('volume name', volume)),
    subPathsDir,
    volumeSubPathsDir: getSubPathsDir,
    subPathDir: (uid, volume, container, index) =>
      path.join(
        getSubPathsDir(uid, volume),
        checkSegment('container name', container),
        checkSegment('mount index', String(index)),
      ),
    terminationLogsDir,
    terminationLog: (uid, container, run) =>
      path.join(terminationLogsDir(uid), checkSegment('container name', container), checkSegment('container run', run)),
    hostsFile: (uid) => path.join(podDir(uid), 'etc-hosts'),
    podLogDir,
    containerLogDir: (pod, container) => path.join(podLogDir(pod), checkSegment('container name', container)),
    logLink: (pod, container, id) => path.join(logLinksDir, logLinkName(pod, container, id)),
    logLinkPrefix: (pod) => linkStem(pod).slice(0, MAX_LINK_STEM_LENGTH),
  };
}

/** Whether a string is safe to use as a path segment, as every valid Kubernetes name, UID and container ID is. */
export function isSafeSegment(text: string): boolean {
  return SAFE_SEGMENT_PATTERN.test(text);
}

function checkSegment(description: string, value: string): string {
  if (isSafeSegment(value)) return value;
  const quotedValue = JSON.stringify(value.slice(0, 80));
  throw new NodeFailure('FailedValidation', `${description} ${quotedValue} cannot be used in a path of this node`);
}

function pluginSegment(plugin: string): string {
  return plugin
    .split('/')
    .map((part) => checkSegment('volume plugin', part))
    .join('~');
}

function podLogName({ namespace, name, uid }: PodIdentity): string {
  return [checkSegment('namespace', namespace), checkSegment('pod name', name), checkSegment('pod uid', uid)].join('_');
}

function linkStem({ namespace, name }: PodIdentity): string {
  return `${checkSegment('pod name', name)}_${checkSegment('namespace', namespace)}_`;
}

function logLinkName(pod: PodIdentity, container: string, id: string): string {
  const linkNameStem = `${linkStem(pod)}${checkSegment('container name', container)}-${checkSegment('container id', id)}`;
  return linkNameStem.slice(0, MAX_LINK_STEM_LENGTH) + LOG_SUFFIX;
}

function absolutePath(directory: string): string {
  if (path.isAbsolute(directory)) return path.normalize(directory);
  throw new NodeFailure('FailedValidation', `${JSON.stringify(directory)} must be an absolute path`);
}
