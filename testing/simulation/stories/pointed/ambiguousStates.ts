import { container, manifest } from '../manifests.ts';
import { RESTARTS_ALL } from './podRestarts.ts';
import {
  apply,
  at,
  faultAt,
  killAgent,
  late,
  mainContainer,
  type PointedStory,
  pointedStory,
  SECOND,
  shell,
} from './pointedStory.ts';

/** Stories in which the runtime reports an ambiguous state, which must not undo the progress of a pod. */
export const ambiguousStates: Readonly<Record<string, PointedStory>> = {
  'all restart while a list does not show the sandbox': pointedStory(
    [
      at(0, { kind: 'lists', show: 'stale', forMs: 40 * SECOND }),
      apply(
        0,
        manifest('web', {
          initContainers: [container('setup', { command: shell('sleep 2') })],
          containers: [RESTARTS_ALL, container('helper')],
        }),
      ),
    ],
    [faultAt('runtime', 'stopContainer', late(15))],
  ),
  'the runtime cannot take up what the next agent finds, which had restarted': pointedStory([
    ...[0, 1, 2, 3, 4].map((pod) =>
      apply(0, manifest(`web-${pod}`, { containers: [mainContainer({ command: shell('sleep 20; exit 1') })] })),
    ),
    at(30, { kind: 'runtimeDown', downMs: 100, keepContainers: true, hasUnknown: true }),
    killAgent(30.2),
  ]),
};
