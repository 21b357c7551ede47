import type { Invariant } from '../../../testing/simulation/invariants/invariant.ts';

/** Holds until a sandbox is made. */
export const noSandbox: Invariant = {
  number: 5,
  description: 'No sandbox is ever made.',
  follow: (_watched, violated) => ({
    onCall: ({ name }) => {
      if (name === 'runPodSandbox') violated('a sandbox was made');
    },
  }),
};
