/** Maintains the kubelet's checkpoint files of the pods' allocated and actuated resources. */
import path from 'node:path';
import { messageOf } from '../../base/failure.ts';
import { isJsonEqual } from '../../base/values/isJsonEqual.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import { quarantineFile } from '../../host/files/quarantineFile.ts';
import type { PodResources } from '../../kubernetes/resources/resize.ts';
import {
  ACTUATED_CHECKPOINT,
  ALLOCATED_CHECKPOINT,
  formatResourceCheckpoint,
  parseResourceCheckpoint,
  type ResourceCheckpoint,
} from '../../kubernetes/resources/resourceCheckpoint.ts';
import { describeFileType, readText } from './storeFiles.ts';

/** The resources of a pod in both checkpoints. Undefined if a checkpoint does not contain the pod. */
export interface CheckpointedResources {
  readonly allocated: PodResources | undefined;
  readonly actuated: PodResources | undefined;
}

/** The contents of both files. Changes are written by the caller. */
export class ResourceCheckpoints {
  readonly #podsByFile: ReadonlyMap<string, Map<string, PodResources>>;

  constructor(allocated: ResourceCheckpoint, actuated: ResourceCheckpoint) {
    this.#podsByFile = new Map([
      [ALLOCATED_CHECKPOINT, new Map(allocated)],
      [ACTUATED_CHECKPOINT, new Map(actuated)],
    ]);
  }

  /** Returns the UIDs of the pods that were admitted. */
  get uids(): readonly string[] {
    return [...this.#podsOf(ALLOCATED_CHECKPOINT).keys()];
  }

  get(uid: string): CheckpointedResources {
    return {
      allocated: this.#podsOf(ALLOCATED_CHECKPOINT).get(uid),
      actuated: this.#podsOf(ACTUATED_CHECKPOINT).get(uid),
    };
  }

  /** Sets the resources of a pod, or removes the pod. Returns the names of the files that have changed. */
  set(uid: string, { allocated, actuated }: CheckpointedResources): readonly string[] {
    const resourcesByFile = [
      [ALLOCATED_CHECKPOINT, allocated],
      [ACTUATED_CHECKPOINT, actuated],
    ] as const;
    return resourcesByFile.flatMap(([name, resources]) => {
      const pods = this.#podsOf(name);
      if (isJsonEqual(pods.get(uid), resources)) return [];
      if (resources === undefined) pods.delete(uid);
      else pods.set(uid, resources);
      return [name];
    });
  }

  /** Returns the contents of the file with the given name. */
  format(name: string): string {
    return formatResourceCheckpoint(this.#podsOf(name));
  }

  #podsOf(name: string): Map<string, PodResources> {
    return this.#podsByFile.get(name) ?? new Map();
  }
}

/**
 * Reads both files. A damaged file is renamed and reported but does not prevent the start, because the agent has its
 * own record of the pods that it has admitted.
 */
export async function readResourceCheckpoints(
  rootDir: string,
  files: FileSystem,
): Promise<{ readonly checkpoints: ResourceCheckpoints; readonly damageMessages: readonly string[] }> {
  const damageMessages: string[] = [];
  const read = async (name: string): Promise<ResourceCheckpoint> => {
    const file = path.join(rootDir, name);
    const content = readCheckpoint(files, file);
    if (content instanceof Map) return content;
    damageMessages.push(`${file}: ${content}; renamed to ${await quarantineFile(files, file)}`);
    return new Map();
  };
  const checkpoints = new ResourceCheckpoints(await read(ALLOCATED_CHECKPOINT), await read(ACTUATED_CHECKPOINT));
  return { checkpoints, damageMessages };
}

/** Returns the contents of a checkpoint, or why it cannot be used. */
function readCheckpoint(files: FileSystem, file: string): Map<string, PodResources> | string {
  const fileTypeProblem = describeFileType(files, file);
  if (fileTypeProblem !== undefined) return fileTypeProblem;
  const text = readText(files, file);
  if (text === undefined)
    return files.lstatSync(file) === undefined ? new Map() : 'expected a file, found a dangling symbolic link';
  try {
    return new Map(parseResourceCheckpoint(text));
  } catch (error) {
    return messageOf(error);
  }
}
