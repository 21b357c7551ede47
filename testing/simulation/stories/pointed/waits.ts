import { apply, late, main, type PointedStory, SECOND, STUBBORN, same, strike, told } from './pointedStory.ts';

const slow = same('web', { terminationGracePeriodSeconds: 5, containers: [main({ command: STUBBORN })] });
const stored = same('stored', { volumes: [{ name: 'scratch', emptyDir: {} }] });

/** A pod waits for an operation that takes long. */
export const waits: Readonly<Record<string, PointedStory>> = {
  'the directory of a volume is made late': told(
    [apply(0, stored)],
    [strike('disk', 'mkdir', late(5), { about: '/volumes/kubernetes.io~empty-dir/scratch' })],
    20 * SECOND,
  ),
  'a pod takes its time to end, and another has its name': told(
    [apply(0, slow), apply(5, { ...slow, metadata: { ...slow.metadata, uid: 'uid-of-another' } })],
    [],
    20 * SECOND,
  ),
};
