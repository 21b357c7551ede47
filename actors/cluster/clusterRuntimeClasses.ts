/** Caches the handlers of the cluster's RuntimeClasses as last reported by the watch. */
import { RUNTIME_CLASS_TYPE, RUNTIME_CLASSES_PATH } from '../../kubeclient/paths.ts';
import { formatFirstProblem } from '../../kubernetes/api/problem.ts';
import { readRuntimeClass } from '../../kubernetes/api/runtimeClass.ts';
import type { ClusterWatch } from './runWatch.ts';

/**
 * The part of a RuntimeClass that the node uses. Overhead and scheduling are omitted, because the API server already
 * applied them when it admitted the pod.
 */
interface ClassHandler {
  readonly name: string;
  readonly handler: string;
}

export class ClusterRuntimeClasses {
  #handlersByClass: ReadonlyMap<string, string> = new Map();

  replaceAll(classes: readonly ClassHandler[]): void {
    this.#handlersByClass = new Map(classes.map(({ name, handler }) => [name, handler]));
  }

  /** Returns undefined if the class does not exist or the classes have not been read yet. */
  handlerOf(name: string): string | undefined {
    return this.#handlersByClass.get(name);
  }
}

export const classesWatch = (classes: Pick<ClusterRuntimeClasses, 'replaceAll'>): ClusterWatch<ClassHandler> => ({
  name: 'RuntimeClass',
  sourceName: 'the RuntimeClasses of the cluster',
  path: RUNTIME_CLASSES_PATH,
  type: RUNTIME_CLASS_TYPE,
  transform: (object) => {
    const runtimeClass = readRuntimeClass(object);
    if ('problems' in runtimeClass)
      throw new Error(`this is no RuntimeClass: ${formatFirstProblem(runtimeClass.problems)}`);
    const { metadata, handler } = runtimeClass.object;
    return { name: metadata.name, handler };
  },
  onSet: (handlers) => classes.replaceAll(handlers),
});
