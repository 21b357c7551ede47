import type { Invariant } from '../invariant.ts';

export const foreignUnchanged: Invariant = {
  number: 5,
  description: "Nothing that is not this agent's is stopped, unmounted, changed or removed.",
  follow: ({ host }, violated) => {
    const check = () => {
      for (const each of host.foreignChanges()) violated(`somebody else's: ${each}`);
    };
    return {
      onCall: ({ target, name, about, writes }) => {
        if (writes && host.isForeign(about)) violated(`${target} ${name} of ${about}, which is somebody else's`);
      },
      whole: check,
      atRest: check,
    };
  },
};
