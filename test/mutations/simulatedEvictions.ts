/** Faults in the eviction of pods, which stories of nodes that run short of their resources find. */
import { numberOfStory, type SeededFault } from './seededFault.ts';

export const faultsOfEvictions: readonly SeededFault[] = [
  {
    name: 'critical-evicted',
    breaks: 'a critical pod is evicted like any other',
    file: 'kubernetes/eviction/ranking.ts',
    find: 'rankedPods.find(isEvictable)',
    put: 'rankedPods[0]',
    story: numberOfStory('processes run short on a node with only a critical pod'),
  },
  {
    name: 'evicted-after-relief',
    breaks: 'a pod is evicted although removed containers have relieved the disk',
    file: 'machines/eviction/chart.ts',
    find: "[{ guard: 'isRelieved', target: '#eviction.waiting' }, { target: '#eviction.ranking' }]",
    put: "[{ target: '#eviction.ranking' }]",
    story: numberOfStory('the disk has space again by the time that dead containers are removed'),
  },
  {
    name: 'evicted-without-shortage',
    breaks: 'a threshold is met at twice its amount',
    file: 'kubernetes/eviction/pressure.ts',
    find: 'return available < thresholdAmount(value, capacity) + reclaimAmount;',
    put: 'return available < 2 * thresholdAmount(value, capacity) + reclaimAmount;',
    story: numberOfStory('processes are scarce, but no threshold is met'),
  },
  {
    name: 'reclaimed-in-use',
    breaks: 'an eviction removes images that waiting containers need',
    file: 'machines/eviction/chart.ts',
    find: 'input: ({ context: { pods } }) => ({ activePodUids: pods.map(({ metadata }) => metadata.uid) }),',
    put: 'input: ({ context: { pods } }) => ({ activePodUids: pods.map(({ metadata }) => metadata.name) }),',
    story: numberOfStory(
      'the disk runs short while a pod has checked an image, but its container cannot be created yet',
    ),
  },
];
