import { apply, fixedPod, killAgent, mainContainer, type PointedStory, pointedStory, SECOND } from './pointedStory.ts';

/** Stories in which a new agent adopts running pods and has no reason to stop them. */
export const adoptions: Readonly<Record<string, PointedStory>> = {
  'an agent starts again over a container whose probe has not failed': pointedStory([
    apply(
      0,
      fixedPod('web', {
        containers: [mainContainer({ livenessProbe: { exec: { command: ['true'] }, periodSeconds: 1 } })],
      }),
    ),
    killAgent(8),
  ]),
  'an agent starts again over a pod whose deadline is yet to come': pointedStory([
    apply(0, fixedPod('web', { activeDeadlineSeconds: 3_600 })),
    killAgent(8),
  ]),
  'an agent starts again over a pod whose manifest has changed long ago': pointedStory(
    [apply(0, fixedPod('web', {})), apply(8, fixedPod('web', {}, { labels: { changed: 'yes' } })), killAgent(400)],
    [],
    420 * SECOND,
  ),
};
