/** Mutations that break the rules on the shutdown of the host. */
import type { Mutation } from './mutation.ts';

export const shutdownMutations: readonly Mutation[] = [
  {
    rule: 'C49',
    breaks: 'a pod between two groups belongs to the higher one',
    file: 'kubernetes/shutdown/periods.ts',
    find: 'podPriority ? index - 1 : index',
    put: 'podPriority ? index : index - 1',
  },
  {
    rule: 'C49',
    breaks: 'a pod gets the time of its group, whatever its own grace period',
    file: 'kubernetes/shutdown/periods.ts',
    find: 'Math.min(graceSeconds, ',
    put: 'Math.max(graceSeconds, ',
  },
  {
    rule: 'C49',
    breaks: 'the lock is taken although logind does not delay a shutdown long enough',
    file: 'machines/shutdown/chart.ts',
    find: '(delayOf(event) ?? 0) >= requiredDelayMs(context)',
    put: '(delayOf(event) ?? 0) >= Math.min(0, requiredDelayMs(context))',
  },
  {
    rule: 'C49',
    breaks: 'the next group waits until the time of the former one is over',
    file: 'machines/shutdown/context.ts',
    find: 'group.uids.every((uid) => cleanedUpUids.includes(uid))',
    put: 'group.uids.length + cleanedUpUids.length < 0',
  },
  {
    rule: 'C49',
    breaks: 'the node stays ready while the host shuts down',
    file: 'machines/node/runtime/readiness.ts',
    find: 'isDraining: isDraining || isShuttingDown,',
    put: 'isDraining: isDraining && isShuttingDown,',
  },
  {
    rule: 'C49',
    breaks: 'a static pod stays Failed after the next boot',
    file: 'machines/node/pods/wanted.ts',
    find: "isStaticPod(pod) && status?.reason === 'Terminated'",
    put: "isStaticPod(pod) && status?.reason === 'Shutdown'",
  },
  {
    rule: 'C49',
    breaks: 'a cancelled shutdown terminates the other groups as well',
    file: 'machines/shutdown/chart.ts',
    find: "target: '.savingEnd',",
    put: '',
  },
];
