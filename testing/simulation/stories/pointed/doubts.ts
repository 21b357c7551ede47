import { container, manifest } from '../manifests.ts';
import { apply, at, killAgent, late, main, type PointedStory, SECOND, shell, strike, told } from './pointedStory.ts';
import { ENDS_ALL } from './restartsOfAll.ts';

/** The runtime reports an ambiguous state, which must not undo the progress of a pod. */
export const doubts: Readonly<Record<string, PointedStory>> = {
  'all restart while a list does not show the sandbox': told(
    [
      at(0, { kind: 'lists', show: 'stale', forMs: 40 * SECOND }),
      apply(
        0,
        manifest('web', {
          initContainers: [container('setup', { command: shell('sleep 2') })],
          containers: [ENDS_ALL, container('helper')],
        }),
      ),
    ],
    [strike('runtime', 'stopContainer', late(15))],
  ),
  'the runtime cannot take up what the next agent finds, which had restarted': told([
    ...[0, 1, 2, 3, 4].map((pod) =>
      apply(0, manifest(`web-${pod}`, { containers: [main({ command: shell('sleep 20; exit 1') })] })),
    ),
    at(30, { kind: 'runtimeDown', downMs: 100, keepContainers: true, hasUnknown: true }),
    killAgent(30.2),
  ]),
};
