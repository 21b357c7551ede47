import { container, type Manifest } from '../manifests.ts';
import { apply, at, fixedPod, type PointedStory, pointedStory, remove, SECOND, shell } from './pointedStory.ts';

const MANY = 60;
/** Every eighth container runs this command, which crashes after a while. */
const crash = { command: shell('sleep 7; exit 1') };

const large = (name: string): Manifest =>
  fixedPod(name, {
    terminationGracePeriodSeconds: 2,
    containers: Array.from({ length: MANY }, (_, index) => container(`c${index}`, index % 8 === 7 ? crash : {})),
    volumes: Array.from({ length: MANY }, (_, index) => ({ name: `v${index}`, emptyDir: {} })),
  });

/** Stories of pods that are so large that nothing may iterate over all their parts after each change. */
export const largePods: Readonly<Record<string, PointedStory>> = {
  'a pod of many containers starts, restarts some of them and is removed': pointedStory(
    [
      apply(0, large('large')),
      at(20, { kind: 'exit', which: 3, exitCode: 1 }),
      at(25, { kind: 'stopAgent', drains: false, downMs: SECOND }),
      remove(50, 'large'),
    ],
    [],
    80 * SECOND,
  ),
};
