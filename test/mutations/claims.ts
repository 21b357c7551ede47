/** Mutations that break the rule on resource claims. */
import type { Mutation } from './mutation.ts';

export const claimMutations: readonly Mutation[] = [
  {
    rule: 'C50',
    breaks: 'a pod with claims gets its sandbox before they are prepared',
    file: 'machines/pod/states/creatingSandbox.ts',
    find: "        { guard: 'mayHaveClaims', target: 'preparingClaims' },\n        { target: 'queued' },",
    put: "        { target: 'queued' },",
  },
  {
    rule: 'C50',
    breaks: 'a pod is over before its claims are unprepared',
    file: 'machines/pod/states/terminating.ts',
    find: "          { guard: 'mayHaveClaims', target: 'unpreparingClaims', actions: stoppedActions },\n",
    put: '',
  },
  {
    rule: 'C50',
    breaks: 'a claim is unprepared while another pod uses it',
    file: 'actors/claims/claimManager.ts',
    find: 'if (podUids.length === 0) unusedClaims.push(claim);',
    put: 'if (podUids.length >= 0) unusedClaims.push(claim);',
  },
  {
    rule: 'C50',
    breaks: 'a pod uses a claim that is reserved for another',
    file: 'kubernetes/claims/podClaims.ts',
    find: 'if (!status.reservedFor.some(({ uid }) => uid === pod.uid))',
    put: 'if (status.reservedFor.length === 0)',
  },
  {
    rule: 'C50',
    breaks: 'a claim of two pods is prepared twice',
    file: 'actors/claims/claimManager.ts',
    find: 'if (!usedClaim.isPrepared) unpreparedClaims.push(usedClaim);',
    put: 'unpreparedClaims.push(usedClaim);',
  },
  {
    rule: 'C50',
    breaks: 'the claims of pods that are gone stay prepared',
    file: 'machines/claims/chart.ts',
    find: "{ guard: 'hasLeftovers', target: 'unpreparing' },",
    put: '',
  },
  {
    rule: 'C50',
    breaks: 'a container gets the devices of all requests',
    file: 'kubernetes/claims/containerDevices.ts',
    find: "request === '' || requestNames.length === 0 || requestNames.includes(request);",
    put: "request === '' || requestNames.length === 0 || requestNames.length > 0;",
  },
  {
    rule: 'C50',
    breaks: 'the health of a silent driver stays as it was',
    file: 'actors/claims/deviceHealths.ts',
    find: 'if (record === undefined || expiryOf(record) < this.#clock.now()) return undefined;',
    put: 'if (record === undefined) return undefined;',
  },
  {
    rule: 'C50',
    breaks: 'a checkpoint that is damaged is read',
    file: 'kubernetes/claims/claimCheckpoint.ts',
    find: "if (crc32(data) !== checksum) throw new Error('checkpoint is corrupted');",
    put: 'void checksum;',
  },
];
