/** The node's own Node object as the API server has it, as far as the node has heard. */
import { NODES } from '../../kube/paths.ts';
import type { KubeObject } from '../../kube/reflector.ts';
import type { Watch } from './watch.ts';

export class OwnNode {
  #object: KubeObject | undefined;
  readonly #heard = Promise.withResolvers<void>();

  /** Undefined where there is none, or nothing is known of it yet. */
  get object(): KubeObject | undefined {
    return this.#object;
  }

  /** Resolves once the server has said which Node there is, be it none. */
  get heard(): Promise<void> {
    return this.#heard.promise;
  }

  /** All that the server has under the node's name. */
  take([object]: readonly KubeObject[]): void {
    this.#object = object;
    this.#heard.resolve();
  }
}

export const ownNodeWatch = (ownNode: OwnNode, nodeName: string): Watch => ({
  ...{ name: 'Node', place: `the Node ${nodeName}` },
  ...{ path: NODES, query: { fieldSelector: `metadata.name=${nodeName}` } },
  onSet: (objects) => ownNode.take(objects),
});
