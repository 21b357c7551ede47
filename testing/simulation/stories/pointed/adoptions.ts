import { apply, killAgent, main, type PointedStory, SECOND, same, told } from './pointedStory.ts';

/** A new agent adopts running pods and has no reason to stop them. */
export const adoptions: Readonly<Record<string, PointedStory>> = {
  'an agent starts again over a container whose probe has not failed': told([
    apply(0, same('web', { containers: [main({ livenessProbe: { exec: { command: ['true'] }, periodSeconds: 1 } })] })),
    killAgent(8),
  ]),
  'an agent starts again over a pod whose deadline is yet to come': told([
    apply(0, same('web', { activeDeadlineSeconds: 3_600 })),
    killAgent(8),
  ]),
  'an agent starts again over a pod whose manifest has changed long ago': told(
    [apply(0, same('web', {})), apply(8, same('web', {}, { labels: { changed: 'yes' } })), killAgent(400)],
    [],
    420 * SECOND,
  ),
};
