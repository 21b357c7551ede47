/** Finds the RuntimeClass of a pod on the API server or in the files of a directory. */
import { join } from 'node:path';
import { messageOf, NodeFailure } from '../../../base/failure.ts';
import { isMissing, isResourceShortage } from '../../../host/files/fileErrors.ts';
import { type FileSystem, hostFiles } from '../../../host/files/fileSystem.ts';
import type { Problem } from '../../../kubernetes/api/problem.ts';
import { type RuntimeClasses, readRuntimeClass, validateRuntimeClass } from '../../../kubernetes/api/runtimeClass.ts';
import type { PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import type { RuntimeClass } from '../../../kubernetes/api/schema/runtimeClass.ts';
import { required, validateDnsSubdomain } from '../../../kubernetes/api/validation/words.ts';
import { findExcess, parseDocuments, type TextLimits } from '../../../kubernetes/yaml/boundedYaml.ts';
import { limitProblems } from '../../sources/limitProblems.ts';
import { readTextFile } from '../../sources/yaml/textFile.ts';

/** Returns the handler of a RuntimeClass, or undefined if there is no such class. */
export type FindRuntimeHandler = (runtimeClassName: string) => Promise<string | undefined>;

/** Returns the handler of a pod's sandbox. An empty string selects the runtime's default. */
export async function resolveRuntimeHandler({ runtimeClassName }: PodSpec, find: FindRuntimeHandler): Promise<string> {
  if (!runtimeClassName) return '';
  const handler = await find(runtimeClassName).catch((cause: unknown) => {
    const message = `Failed to create pod sandbox: RuntimeClass "${runtimeClassName}" cannot be read: ${messageOf(cause)}`;
    throw new NodeFailure('FailedCreatePodSandBox', message, { cause });
  });
  if (handler !== undefined) return handler;
  const message = `Failed to create pod sandbox: runtimeclass.node.k8s.io "${runtimeClassName}" not found`;
  throw new NodeFailure('FailedCreatePodSandBox', message);
}

/**
 * Creates a function that finds the handler of a RuntimeClass in the cluster or in a directory. The directory is for
 * nodes without a cluster, and for pods that run before their API server does. The directory is read each time, because
 * its files may change. The overhead and scheduling of a class were already applied when the pod was admitted.
 */
export function createHandlerFinder(
  readClasses: (() => Promise<RuntimeClasses>) | undefined,
  inCluster: (name: string) => string | undefined = () => undefined,
): FindRuntimeHandler {
  return async (name) => inCluster(name) ?? (await readClasses?.())?.get(name)?.handler;
}

/** Called for each file, document or field that is skipped. */
export type OnSkipped = (file: string, why: string) => void;

/**
 * Reads all classes of a directory by name. If several classes have the same name, the first one is used. Rejects if
 * the host temporarily refuses a read, because a class that was not read would look like one that does not exist.
 * Permanently unreadable files, e.g. damaged ones, are skipped, so other pods need not wait.
 */
export async function readRuntimeClasses(
  directory: string,
  onSkipped: OnSkipped = () => {},
  disk: FileSystem = hostFiles,
): Promise<RuntimeClasses> {
  const classes = new Map<string, RuntimeClass>();
  const names = await disk.readdir(directory).catch((error: unknown) => {
    if (isResourceShortage(error)) throw error;
    if (!isMissing(error)) onSkipped(directory, messageOf(error));
    return [];
  });
  const files = names.filter((file) => /\.(ya?ml|json)$/.test(file)).sort();
  for (const file of files.map((name) => join(directory, name))) {
    const skipFile = (why: string) => onSkipped(file, why);
    for (const each of parseClasses(await readClassFile(disk, file, skipFile), skipFile)) {
      if (!classes.has(each.metadata.name)) classes.set(each.metadata.name, each);
    }
  }
  return classes;
}

/** Skips invalid documents without affecting the others in the file. */
function parseClasses(text: string, skip: (why: string) => void): RuntimeClass[] {
  const documents = parseDocuments(text, FILE_LIMITS);
  if (!Array.isArray(documents)) {
    skip('problem' in documents ? documents.problem : `has ${documents.beyond}`);
    return [];
  }
  return documents.flatMap((document) => {
    if (!('value' in document)) {
      skip('problem' in document ? document.problem : `has ${document.beyond}`);
      return [];
    }
    return isRuntimeClass(document.value) ? parseClass(document.value, skip) : [];
  });
}

function parseClass(value: unknown, skip: (why: string) => void): RuntimeClass[] {
  const exceededLimit = findExcess(value, FILE_LIMITS);
  if (exceededLimit !== undefined) {
    skip('problem' in exceededLimit ? exceededLimit.problem : `has ${exceededLimit.beyond}`);
    return [];
  }
  const runtimeClass = readRuntimeClass(value);
  const problems = 'problems' in runtimeClass ? runtimeClass.problems : findProblems(runtimeClass.object);
  for (const { path, message } of limitProblems(problems)) skip(`no RuntimeClass: ${path}: ${message}`);
  if ('problems' in runtimeClass || problems.length > 0) return [];
  for (const { path, message } of limitProblems(runtimeClass.warnings)) skip(`field left out: ${path}: ${message}`);
  return [runtimeClass.object];
}

const findProblems = (runtimeClass: RuntimeClass): Problem[] => [
  ...(runtimeClass.metadata.name === ''
    ? [required('metadata.name')]
    : validateDnsSubdomain('metadata.name', runtimeClass.metadata.name)),
  ...validateRuntimeClass(runtimeClass),
];

/** Limits of a file, which is parsed on the event loop. Files that exceed them are skipped. */
const FILE_LIMITS: TextLimits = { tokens: 20_000, values: 10_000, characters: 65_536 };

const isRuntimeClass = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'RuntimeClass';

async function readClassFile(disk: FileSystem, file: string, skip: (why: string) => void): Promise<string> {
  try {
    const content = await readTextFile(disk, file);
    if (content !== undefined && 'text' in content && content.text.length <= FILE_LIMITS.characters)
      return content.text;
    // Do not report a missing file, because it may have been removed after it was listed.
    if (content !== undefined)
      skip('noFile' in content ? content.noFile : `has more than ${FILE_LIMITS.characters} characters`);
  } catch (error) {
    if (isResourceShortage(error)) throw error;
    skip(messageOf(error));
  }
  return '';
}
