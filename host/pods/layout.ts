/** Where the files of a pod lie: one place that knows the paths, and lets no name lead out of its folder. */
import path from 'node:path';
import { NodeFailure } from '../../base/failure.ts';
import { type FileSystem, hostFiles } from '../files/fileSystem.ts';

/** The mode of what only root and its group may enter: all that is a pod's below the root directory. */
export const PRIVATE = 0o750;
/** The mode of the folders of logs, which whoever collects them may enter. */
export const READABLE = 0o755;

/** The pod that paths are asked for. */
export interface PodIdentity {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/** The node's two folders, both absolute: the agent's root directory, and that of the pods' logs. */
export interface LayoutFolders {
  readonly rootDir: string;
  readonly podLogsDir: string;
}

/** The paths of a node; every function rejects a name that could lead elsewhere with reason `FailedValidation`. */
export interface Layout {
  /** Where these paths are. */
  readonly files: FileSystem;
  /** The directories that are being made or deleted by this agent, and were not left so by a former run. */
  readonly underway: Set<string>;
  readonly podsDir: string;
  readonly logLinksDir: string;
  /** `<root>/pods/<uid>` */
  readonly podDir: (uid: string) => string;
  /** `<root>/pods/<uid>/volumes` */
  readonly volumesDir: (uid: string) => string;
  /** `<root>/pods/<uid>/plugins/kubernetes.io~empty-dir/<name>`: what a plugin notes of a volume. */
  readonly pluginDir: (uid: string, plugin: string, volume: string) => string;
  /** `<root>/pods/<uid>/volumes/kubernetes.io~empty-dir/<name>`: plugin names carry `~` for `/`. */
  readonly volumeDir: (uid: string, plugin: string, volume: string) => string;
  /** `<root>/pods/<uid>/volume-subpaths` */
  readonly subPathsDir: (uid: string) => string;
  /** `<root>/pods/<uid>/volume-subpaths/<volume>` */
  readonly subPathsOf: (uid: string, volume: string) => string;
  /** `<root>/pods/<uid>/volume-subpaths/<volume>/<container>/<index>` */
  readonly subPathDir: (uid: string, volume: string, container: string, index: number) => string;
  /** `<root>/pods/<uid>/containers` */
  readonly terminationLogsDir: (uid: string) => string;
  /** `<root>/pods/<uid>/containers/<name>/<run>`: the file that a run of a container writes its last words to. */
  readonly terminationLog: (uid: string, container: string, run: string) => string;
  /** `<root>/pods/<uid>/etc-hosts` */
  readonly hostsFile: (uid: string) => string;
  /** `<podLogsDir>/<ns>_<name>_<uid>` (C23) */
  readonly podLogDir: (pod: PodIdentity) => string;
  /** `<podLogsDir>/<ns>_<name>_<uid>/<container>` (C23) */
  readonly containerLogDir: (pod: PodIdentity, container: string) => string;
  /** `<podLogsDir>/../containers/<pod>_<ns>_<container>-<id>.log` (C23), shortened to what a file name may hold. */
  readonly logLink: (pod: PodIdentity, container: string, id: string) => string;
  /** The file names of all log links of a pod begin with this. */
  readonly logLinkPrefix: (pod: PodIdentity) => string;
}

const LONGEST_FILE_NAME = 255;
const LOG_SUFFIX = '.log';
const LONGEST_LINK_STEM = LONGEST_FILE_NAME - LOG_SUFFIX.length;
const SAFE_SEGMENT = /^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/;

/** Computes the paths below the node's folders. */
export function createLayout({ rootDir, podLogsDir }: LayoutFolders, files: FileSystem = hostFiles): Layout {
  const podsDir = path.join(absolute(rootDir), 'pods');
  const logLinksDir = path.join(absolute(podLogsDir), '..', 'containers');
  const podDir = (uid: string) => path.join(podsDir, segment('pod uid', uid));
  const terminationLogsDir = (uid: string) => path.join(podDir(uid), 'containers');
  const subPathsDir = (uid: string) => path.join(podDir(uid), 'volume-subpaths');
  const subPathsOf = (uid: string, volume: string) => path.join(subPathsDir(uid), segment('volume name', volume));
  const podLogDir = (pod: PodIdentity) => path.join(podLogsDir, podLogName(pod));
  return {
    files,
    underway: new Set(),
    podsDir,
    logLinksDir,
    podDir,
    volumesDir: (uid) => path.join(podDir(uid), 'volumes'),
    pluginDir: (uid, plugin, volume) =>
      path.join(podDir(uid), 'plugins', pluginSegment(plugin), segment('volume name', volume)),
    volumeDir: (uid, plugin, volume) =>
      path.join(podDir(uid), 'volumes', pluginSegment(plugin), segment('volume name', volume)),
    subPathsDir,
    subPathsOf,
    subPathDir: (uid, volume, container, index) =>
      path.join(subPathsOf(uid, volume), segment('container name', container), segment('mount index', String(index))),
    terminationLogsDir,
    terminationLog: (uid, container, run) =>
      path.join(terminationLogsDir(uid), segment('container name', container), segment('container run', run)),
    hostsFile: (uid) => path.join(podDir(uid), 'etc-hosts'),
    podLogDir,
    containerLogDir: (pod, container) => path.join(podLogDir(pod), segment('container name', container)),
    logLink: (pod, container, id) => path.join(logLinksDir, logLinkName(pod, container, id)),
    logLinkPrefix: (pod) => linkStem(pod).slice(0, LONGEST_LINK_STEM),
  };
}

/** Whether a text can stand as one segment of a path here: a Kubernetes name, UID or container id. */
export function isSafeSegment(text: string): boolean {
  return SAFE_SEGMENT.test(text);
}

function segment(what: string, text: string): string {
  if (isSafeSegment(text)) return text;
  const shown = JSON.stringify(text.slice(0, 80));
  throw new NodeFailure('FailedValidation', `${what} ${shown} cannot be used in a path of this node`);
}

function pluginSegment(plugin: string): string {
  return plugin
    .split('/')
    .map((part) => segment('volume plugin', part))
    .join('~');
}

function podLogName({ namespace, name, uid }: PodIdentity): string {
  return [segment('namespace', namespace), segment('pod name', name), segment('pod uid', uid)].join('_');
}

function linkStem({ namespace, name }: PodIdentity): string {
  return `${segment('pod name', name)}_${segment('namespace', namespace)}_`;
}

function logLinkName(pod: PodIdentity, container: string, id: string): string {
  const stem = `${linkStem(pod)}${segment('container name', container)}-${segment('container id', id)}`;
  return stem.slice(0, LONGEST_LINK_STEM) + LOG_SUFFIX;
}

function absolute(folder: string): string {
  if (path.isAbsolute(folder)) return path.normalize(folder);
  throw new NodeFailure('FailedValidation', `${JSON.stringify(folder)} must be an absolute path`);
}
