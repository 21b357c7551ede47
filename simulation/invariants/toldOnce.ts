import type { RuntimeEffect } from '../../cri/simulated/views.ts';
import type { Invariant } from './invariant.ts';

/** What happens once to a container, by the reason of its event. */
const ONCE: ReadonlyMap<string, RuntimeEffect['kind']> = new Map([
  ['Created', 'created'],
  ['Started', 'started'],
]);

/** The container of `spec.containers{web}`. */
const nameIn = (fieldPath = ''): string => /\{(.*)\}$/.exec(fieldPath)?.[1] ?? '';

class Counts {
  readonly #counts = new Map<string, number>();

  add(...key: readonly string[]): number {
    const joined = key.join(' ');
    const count = (this.#counts.get(joined) ?? 0) + 1;
    this.#counts.set(joined, count);
    return count;
  }

  of = (...key: readonly string[]): number => this.#counts.get(key.join(' ')) ?? 0;
}

export const toldOnce: Invariant = {
  number: 8,
  says: 'Within one life of the agent, an event is told once for what happened once.',
  follow: ({ host }, violated) => {
    let [told, happened] = [new Counts(), new Counts()];
    return {
      onLifeBegan: () => {
        [told, happened] = [new Counts(), new Counts()];
        // What an earlier agent had made, and no list shows, is taken for what this one asks for under its name.
        for (const { podUid, containerName } of host.containers()) {
          for (const kind of ONCE.values()) happened.add(kind, podUid, containerName);
        }
      },
      onEffect: ({ kind, container }) => {
        if (container) happened.add(kind, container.podUid, container.containerName);
      },
      onEvent: ({ reason, message, involved: { uid, namespace, name, fieldPath } }) => {
        const kind = ONCE.get(reason);
        if (kind === undefined) return;
        const key = [kind, uid, nameIn(fieldPath)];
        if (told.add(...key) > happened.of(...key)) violated(`told twice: ${namespace}/${name} ${reason}: ${message}`);
      },
    };
  },
};
