import {
  apply,
  fixedPod,
  mainContainer,
  type PointedStory,
  pointedStory,
  SECOND,
  shell,
  sized,
} from './pointedStory.ts';

const MINUTES = 26;

const probe = (command: string, periodSeconds: number) => ({ exec: { command: [command] }, periodSeconds });

/**
 * Returns a pod with a container that crashes, one that its probe stops, and one that keeps running. The manifest has
 * the same size for all arguments.
 */
const busyPod = (cpu: string, changed: string) =>
  fixedPod(
    'web',
    {
      containers: [
        mainContainer({ command: shell('sleep 3; exit 1') }),
        mainContainer({ name: 'ill', livenessProbe: { ...probe('false', 10), failureThreshold: 2 } }),
        sized(cpu, { name: 'well', readinessProbe: probe('true', 10), livenessProbe: probe('true', 10) }),
      ],
    },
    { labels: { changed } },
  );

/** Stories in which a pod lives so long that data which accumulates with each event becomes visible. */
export const longLivedPods: Readonly<Record<string, PointedStory>> = {
  'a pod that crashes, is probed and is changed lives on': pointedStory(
    Array.from({ length: MINUTES }, (_, minute) =>
      apply(60 * minute, minute % 2 === 0 ? busyPod('100m', 'once') : busyPod('200m', 'again')),
    ),
    [],
    MINUTES * 60 * SECOND,
  ),
};
