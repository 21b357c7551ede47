import type { Invariant } from './invariant.ts';

export const notOurs: Invariant = {
  number: 5,
  says: "Nothing that is not this agent's is stopped, unmounted, changed or removed.",
  follow: ({ host }, violated) => {
    const look = () => {
      for (const each of host.missingOfOthers()) violated(`somebody else's: ${each}`);
    };
    return {
      onCall: ({ room, name, about, writes }) => {
        if (writes && host.isForeign(about)) violated(`${room} ${name} of ${about}, which is somebody else's`);
      },
      whole: look,
      atRest: look,
    };
  },
};
