/** Finds the RuntimeClass of a pod: at the API server of its cluster, or in the files of a directory. */
import { join } from 'node:path';
import { messageOf, NodeFailure } from '../../../base/failure.ts';
import { isHostRefusal, isMissing } from '../../../host/files/fileErrors.ts';
import { type FileSystem, hostFiles } from '../../../host/files/fileSystem.ts';
import type { Problem } from '../../../kubernetes/api/problem.ts';
import { type RuntimeClasses, readRuntimeClass, validateRuntimeClass } from '../../../kubernetes/api/runtimeClass.ts';
import type { PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import type { RuntimeClass } from '../../../kubernetes/api/schema/runtimeClass.ts';
import { dnsSubdomain, required } from '../../../kubernetes/api/validation/words.ts';
import { findExcess, parseDocuments, type TextLimits } from '../../../kubernetes/yaml/boundedYaml.ts';
import { problemsToTell } from '../../sources/problemsToTell.ts';
import { readTextFile } from '../../sources/yaml/textFile.ts';

/** The handler that a RuntimeClass names; undefined when there is no such class. */
export type FindRuntimeHandler = (runtimeClassName: string) => Promise<string | undefined>;

/** The handler of a pod's sandbox: empty for the runtime's own default. */
export async function runtimeHandlerOf({ runtimeClassName }: PodSpec, find: FindRuntimeHandler): Promise<string> {
  if (!runtimeClassName) return '';
  const handler = await find(runtimeClassName).catch((cause: unknown) => {
    const unread = `Failed to create pod sandbox: RuntimeClass "${runtimeClassName}" cannot be read: ${messageOf(cause)}`;
    throw new NodeFailure('FailedCreatePodSandBox', unread, { cause });
  });
  if (handler !== undefined) return handler;
  const message = `Failed to create pod sandbox: runtimeclass.node.k8s.io "${runtimeClassName}" not found`;
  throw new NodeFailure('FailedCreatePodSandBox', message);
}

/**
 * Finds the handler in the cluster or, for a node without one and for what has to run before its API server does, among
 * the classes of a directory, read each time: somebody may have written one meanwhile. What else a class gives its pods
 * they were given when they were admitted, and keep.
 */
export function handlersOf(
  readClasses: (() => Promise<RuntimeClasses>) | undefined,
  inCluster: (name: string) => string | undefined = () => undefined,
): FindRuntimeHandler {
  return async (name) => inCluster(name) ?? (await readClasses?.())?.get(name)?.handler;
}

/** Told of a file that gives no class, or of something in it that is to be one and is none, and why. */
export type OnSkipped = (file: string, why: string) => void;

/**
 * Reads all classes of a directory, by name. Of two of the same name the first counts, and what is none is left out. Rejects
 * if the host refuses to read something for now, because a class that was not read would be taken for one that does not
 * exist. What cannot be read for good, such as a damaged file, is skipped: pods of other classes and of none need not wait.
 */
export async function readRuntimeClasses(
  directory: string,
  onSkipped: OnSkipped = () => {},
  disk: FileSystem = hostFiles,
): Promise<RuntimeClasses> {
  const classes = new Map<string, RuntimeClass>();
  const names = await disk.readdir(directory).catch((error: unknown) => {
    if (isHostRefusal(error)) throw error;
    if (!isMissing(error)) onSkipped(directory, messageOf(error));
    return [];
  });
  const files = names.filter((file) => /\.(ya?ml|json)$/.test(file)).sort();
  for (const file of files.map((name) => join(directory, name))) {
    const skip = (why: string) => onSkipped(file, why);
    for (const each of classesOf(await regularText(disk, file, skip), skip)) {
      if (!classes.has(each.metadata.name)) classes.set(each.metadata.name, each);
    }
  }
  return classes;
}

/** A fault of one document leaves those beside it. */
function classesOf(text: string, skip: (why: string) => void): RuntimeClass[] {
  const read = parseDocuments(text, LIMITS);
  if (!Array.isArray(read)) {
    skip('problem' in read ? read.problem : `has ${read.beyond}`);
    return [];
  }
  return read.flatMap((document) => {
    if (!('value' in document)) {
      skip('problem' in document ? document.problem : `has ${document.beyond}`);
      return [];
    }
    return isRuntimeClass(document.value) ? classOf(document.value, skip) : [];
  });
}

function classOf(value: unknown, skip: (why: string) => void): RuntimeClass[] {
  const excess = findExcess(value, LIMITS);
  if (excess !== undefined) {
    skip('problem' in excess ? excess.problem : `has ${excess.beyond}`);
    return [];
  }
  const read = readRuntimeClass(value);
  const problems = 'problems' in read ? read.problems : problemsOf(read.object);
  for (const { path, message } of problemsToTell(problems)) skip(`no RuntimeClass: ${path}: ${message}`);
  if ('problems' in read || problems.length > 0) return [];
  for (const { path, message } of problemsToTell(read.warnings)) skip(`field left out: ${path}: ${message}`);
  return [read.object];
}

const problemsOf = (runtimeClass: RuntimeClass): Problem[] => [
  ...(runtimeClass.metadata.name === ''
    ? [required('metadata.name')]
    : dnsSubdomain('metadata.name', runtimeClass.metadata.name)),
  ...validateRuntimeClass(runtimeClass),
];

/** They are read on the event loop, whenever a pod may need them. */
const LIMITS: TextLimits = { tokens: 20_000, values: 10_000, characters: 65_536 };

const isRuntimeClass = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'RuntimeClass';

async function regularText(disk: FileSystem, file: string, skip: (why: string) => void): Promise<string> {
  try {
    const found = await readTextFile(disk, file);
    if (found !== undefined && 'text' in found && found.text.length <= LIMITS.characters) return found.text;
    // It may have been removed since it was listed.
    if (found !== undefined) skip('noFile' in found ? found.noFile : `has more than ${LIMITS.characters} characters`);
  } catch (error) {
    if (isHostRefusal(error)) throw error;
    skip(messageOf(error));
  }
  return '';
}
