import type { Invariant } from '../../../testing/simulation/invariants/invariant.ts';

/** Is violated as soon as a sandbox is created. */
export const noSandbox: Invariant = {
  number: 5,
  description: 'No sandbox is ever made.',
  follow: (_watched, violated) => ({
    onCall: ({ name }) => {
      if (name === 'runPodSandbox') violated('a sandbox was made');
    },
  }),
};
