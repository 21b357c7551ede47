import {
  apply,
  faultAt,
  fixedPod,
  late,
  mainContainer,
  type PointedStory,
  pointedStory,
  SECOND,
  STUBBORN,
} from './pointedStory.ts';

const slow = fixedPod('web', { terminationGracePeriodSeconds: 5, containers: [mainContainer({ command: STUBBORN })] });
const stored = fixedPod('stored', { volumes: [{ name: 'scratch', emptyDir: {} }] });

/** Stories in which a pod waits for a slow operation. */
export const waits: Readonly<Record<string, PointedStory>> = {
  'the directory of a volume is made late': pointedStory(
    [apply(0, stored)],
    [faultAt('disk', 'mkdir', late(5), { about: '/volumes/kubernetes.io~empty-dir/scratch' })],
    20 * SECOND,
  ),
  'a pod takes its time to end, and another has its name': pointedStory(
    [apply(0, slow), apply(5, { ...slow, metadata: { ...slow.metadata, uid: 'uid-of-another' } })],
    [],
    20 * SECOND,
  ),
};
