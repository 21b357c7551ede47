/** Faults in the handling of resource claims, which stories of pods with claims find. */
import { numberOfStory, type SeededFault } from './seededFault.ts';

export const faultsOfClaims: readonly SeededFault[] = [
  {
    name: 'claim-in-use',
    breaks: 'a claim is unprepared with its first pod, although another one uses it',
    file: 'actors/claims/claimManager.ts',
    find: 'if (podUids.length === 0) unusedClaims.push(claim);',
    put: 'if (podUids.length >= 0) unusedClaims.push(claim);',
    story: numberOfStory('two pods share a claim, and the first one goes'),
  },
  {
    name: 'claim-leftover',
    breaks: 'the claims of running pods count as left behind',
    file: 'machines/node/pods/claims.ts',
    find: "return snapshot.hasTag('ended') ? [] : [snapshot.context.desired.metadata.uid];",
    put: "return snapshot.hasTag('ended') ? [snapshot.context.desired.metadata.uid] : [];",
    story: numberOfStory('a claim stays prepared while its pod runs, also with a new agent'),
  },
  {
    name: 'claim-stays',
    breaks: 'claims are not unprepared when their pod terminates, nor later',
    file: 'actors/claims/claimManager.ts',
    find: '    if (keys.length === 0) return;',
    put: '    if (keys.length >= 0) return;',
    story: numberOfStory('a pod waits for its driver'),
  },
];
