/** The RuntimeClasses of the cluster, as far as the node has heard: the handler that each of them names. */
import { RUNTIME_CLASS, RUNTIME_CLASSES } from '../../kubeclient/paths.ts';
import { firstProblem } from '../../kubernetes/api/problem.ts';
import { readRuntimeClass } from '../../kubernetes/api/runtimeClass.ts';
import type { Watch } from './watch.ts';

/** What else a class gives its pods the API server gave them when it took them in. */
interface ClassHandler {
  readonly name: string;
  readonly handler: string;
}

export class Classes {
  #handlers: ReadonlyMap<string, string> = new Map();

  take(classes: readonly ClassHandler[]): void {
    this.#handlers = new Map(classes.map(({ name, handler }) => [name, handler]));
  }

  /** Undefined where there is no such class, or nothing is known of any yet. */
  handlerOf(name: string): string | undefined {
    return this.#handlers.get(name);
  }
}

export const classesWatch = (classes: Pick<Classes, 'take'>): Watch<ClassHandler> => ({
  name: 'RuntimeClass',
  place: 'the RuntimeClasses of the cluster',
  path: RUNTIME_CLASSES,
  type: RUNTIME_CLASS,
  transform: (object) => {
    const read = readRuntimeClass(object);
    if ('problems' in read) throw new Error(`this is no RuntimeClass: ${firstProblem(read.problems)}`);
    const { metadata, handler } = read.object;
    return { name: metadata.name, handler };
  },
  onSet: (all) => classes.take(all),
});
