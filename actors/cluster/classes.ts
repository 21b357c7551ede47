/** Caches the handlers of the cluster's RuntimeClasses as last reported by the watch. */
import { RUNTIME_CLASS, RUNTIME_CLASSES } from '../../kubeclient/paths.ts';
import { firstProblem } from '../../kubernetes/api/problem.ts';
import { readRuntimeClass } from '../../kubernetes/api/runtimeClass.ts';
import type { Watch } from './watch.ts';

/** Overhead and scheduling are omitted, because the API server applied them when it admitted the pod. */
interface ClassHandler {
  readonly name: string;
  readonly handler: string;
}

export class Classes {
  #handlers: ReadonlyMap<string, string> = new Map();

  replaceAll(classes: readonly ClassHandler[]): void {
    this.#handlers = new Map(classes.map(({ name, handler }) => [name, handler]));
  }

  /** Returns undefined if the class does not exist or the classes have not been read yet. */
  handlerOf(name: string): string | undefined {
    return this.#handlers.get(name);
  }
}

export const classesWatch = (classes: Pick<Classes, 'replaceAll'>): Watch<ClassHandler> => ({
  name: 'RuntimeClass',
  place: 'the RuntimeClasses of the cluster',
  path: RUNTIME_CLASSES,
  type: RUNTIME_CLASS,
  transform: (object) => {
    const parsed = readRuntimeClass(object);
    if ('problems' in parsed) throw new Error(`this is no RuntimeClass: ${firstProblem(parsed.problems)}`);
    const { metadata, handler } = parsed.object;
    return { name: metadata.name, handler };
  },
  onSet: (handlers) => classes.replaceAll(handlers),
});
