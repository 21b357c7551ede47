/**
 * Ways to break the rules of docs/conformance.md, at least one for each rule that is kept. The command
 * `npm run conformance -- --mutate` applies each mutation to a copy of the package, and expects a test of the rule to
 * fail. If a mutation survives, no test enforces its rule.
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
