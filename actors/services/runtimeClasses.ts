/** Finds the RuntimeClass of a pod: on a node without an API server, in the files of a directory. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { NodeFailure } from '../../pod/failure.ts';
import type { RuntimeClasses } from '../../pod/runtimeClass.ts';
import type { PodSpec } from '../../pod/schema/pod.ts';
import { type RuntimeClass, runtimeClassSchema } from '../../pod/schema/runtimeClass.ts';

/** The handler that a RuntimeClass names; undefined when there is no such class. */
export type FindRuntimeHandler = (runtimeClassName: string) => Promise<string | undefined>;

/** The handler of a pod's sandbox: empty for the runtime's own default. */
export async function runtimeHandlerOf({ runtimeClassName }: PodSpec, find: FindRuntimeHandler): Promise<string> {
  if (!runtimeClassName) return '';
  const handler = await find(runtimeClassName);
  if (handler !== undefined) return handler;
  const message = `Failed to create pod sandbox: RuntimeClass "${runtimeClassName}" not found`;
  throw new NodeFailure('FailedCreatePodSandBox', message);
}

/** Looks in the YAML or JSON files of a directory, each time anew: somebody may have written one meanwhile. */
export function runtimeClassesIn(directory: string, onSkipped?: OnSkipped): FindRuntimeHandler {
  return async (name) => (await readRuntimeClasses(directory, onSkipped)).get(name)?.handler;
}

/** Told of what has a file's name and is no regular file: to read a FIFO or a device might never end. */
type OnSkipped = (file: string) => void;

/** All classes of a directory, by name; of two of the same name the first counts, and what is none is left out. */
export async function readRuntimeClasses(directory: string, onSkipped: OnSkipped = () => {}): Promise<RuntimeClasses> {
  const classes = new Map<string, RuntimeClass>();
  const files = (await readdir(directory).catch(() => [])).filter((file) => /\.(ya?ml|json)$/.test(file)).sort();
  for (const file of files) {
    const text = await regularText(join(directory, file), onSkipped).catch(() => '');
    for (const document of parseAllDocuments(text)) {
      const read = runtimeClassSchema.safeParse(document.errors.length > 0 ? undefined : document.toJS());
      if (read.success && !classes.has(read.data.metadata.name)) classes.set(read.data.metadata.name, read.data);
    }
  }
  return classes;
}

async function regularText(file: string, onSkipped: OnSkipped): Promise<string> {
  if ((await stat(file)).isFile()) return await readFile(file, 'utf8');
  onSkipped(file);
  return '';
}

/** A node that was told of none. */
export const noRuntimeClasses: FindRuntimeHandler = async () => undefined;
