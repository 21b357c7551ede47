/** The containers of a pod have their new resources: now its own cgroup gets what they are together. A part of the chart in chart.ts. */
import { not } from 'xstate';
import { podSetup } from '../setup.ts';

/** Other resources meanwhile: what was asked for is not what it is to be fitted to any more. */
const restarted = {
  guard: not('changesNetworkMode'),
  target: 'steady',
  actions: ['applyUpdate', 'updateVolumes', 'spawnVolumes'],
} as const;

export const resizingPodCgroup = podSetup.createStateConfig({
  tags: 'working',
  meta: { waitsFor: 'its cgroup to be resized' },
  invoke: {
    src: 'fitPod',
    input: ({ context }) => ({ pod: context.allocated }),
    onDone: {
      target: 'steady',
      actions: [{ type: 'recordFit', params: ({ context }) => context.allocated }, 'noteFit'],
    },
    onError: { target: 'awaitingPodCgroupRetry', actions: 'recordFailure' },
  },
  on: { 'admission.admitted': restarted },
});

export const awaitingPodCgroupRetry = podSetup.createStateConfig({
  tags: 'retrying',
  meta: { waitsFor: 'another attempt to resize its cgroup', until: 'retryAt' },
  invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
  on: { 'timer.elapsed': 'steady', 'admission.admitted': restarted },
});
