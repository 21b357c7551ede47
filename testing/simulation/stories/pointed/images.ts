import { manifest } from '../manifests.ts';
import {
  apply,
  at,
  failCalls,
  faultAt,
  fixedPod,
  killAgent,
  late,
  mainContainer,
  type PointedStory,
  pointedStory,
  remove,
  SECOND,
  secondImage,
} from './pointedStory.ts';

const MINUTE = 60;
const web = fixedPod('web', {});
const job = manifest('job', { containers: [mainContainer(secondImage)] });
const diskFull = (seconds: number, forSeconds: number) =>
  at(seconds, { kind: 'imageDiskFull', forMs: forSeconds * SECOND });

/** Stories in which the image filesystem fills up. */
export const images: Readonly<Record<string, PointedStory>> = {
  'images are removed as their disk fills up, and those of adopted containers stay': pointedStory(
    [apply(0, web), apply(0, job), remove(30, 'job'), killAgent(MINUTE), diskFull(2 * MINUTE, 18 * MINUTE)],
    [],
    22 * MINUTE * SECOND,
  ),
  'an image remains that a pod has checked, whose container cannot be created yet': pointedStory(
    [
      apply(0, job),
      remove(8 * MINUTE, 'job'),
      apply(585, fixedPod('later', { containers: [mainContainer(secondImage)] })),
      diskFull(0, 11 * MINUTE),
    ],
    [faultAt('runtime', 'runPodSandbox', late(30), { about: 'uid-of-later' })],
    13 * MINUTE * SECOND,
  ),
  'images cannot be listed while their disk is full': pointedStory(
    [apply(0, web), failCalls(4 * MINUTE, 'runtime', 7 * MINUTE), diskFull(9 * MINUTE, 4 * MINUTE)],
    [],
    22 * MINUTE * SECOND,
  ),
};
