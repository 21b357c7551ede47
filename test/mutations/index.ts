/**
 * One way at least to break each rule of docs/conformance.md that is kept: `npm run conformance -- --mutate` makes each
 * mutation in a copy of the package and sees a test of that rule go red. What survives is a rule that nothing holds.
 */
import { claimMutations } from './claims.ts';
import { clusterMutations } from './cluster.ts';
import { containerMutations } from './container.ts';
import { evictionMutations } from './eviction.ts';
import { imageMutations } from './images.ts';
import type { Mutation } from './mutation.ts';
import { nodeMutations } from './node.ts';
import { podLifeMutations } from './podLife.ts';
import { servedMutations } from './served.ts';
import { shutdownMutations } from './shutdown.ts';

export const mutations: readonly Mutation[] = [
  ...podLifeMutations,
  ...containerMutations,
  ...nodeMutations,
  ...clusterMutations,
  ...servedMutations,
  ...imageMutations,
  ...evictionMutations,
  ...shutdownMutations,
  ...claimMutations,
];
