import type { Invariant } from '../invariant.ts';

export const foreignUnchanged: Invariant = {
  number: 5,
  description: 'Nothing that belongs to a different agent or program is stopped, unmounted, changed or removed.',
  follow: ({ host }, violated) => {
    const check = () => {
      for (const each of host.foreignChanges()) violated(`foreign object: ${each}`);
    };
    return {
      onCall: ({ target, name, about, writes }) => {
        if (writes && host.isForeign(about)) violated(`${target} ${name} of ${about}, which is foreign`);
      },
      whole: check,
      atRest: check,
    };
  },
};
