/** Stories about manifest files. */
import { manifest } from '../manifests.ts';
import { apply, at, fixedPod, killAgent, type PointedStory, pointedStory, remove, SECOND } from './pointedStory.ts';

const WEB = 'default/web-node-1';
const spoil = (seconds: number, how: 'empty' | 'cut' | 'noise' | 'refused', forSeconds: number) =>
  at(seconds, { kind: 'spoil', pod: WEB, how, forMs: forSeconds * SECOND });
const copy = (seconds: number, file: string) => at(seconds, { kind: 'copyManifest', pod: WEB, file });

/**
 * Stories in which the manifest file of a pod is unreadable for minutes. The pod keeps running, even if the agent
 * restarts.
 */
export const corruptedManifests: Readonly<Record<string, PointedStory>> = {
  'the manifest of a pod is refused for a while, and its agent starts again': pointedStory(
    [apply(0, manifest('web')), spoil(8, 'refused', 200), killAgent(30, 10), killAgent(60)],
    [],
    240 * SECOND,
  ),
  'the manifest of a pod is cut off before it is changed': pointedStory(
    [
      apply(0, fixedPod('web', {})),
      spoil(8, 'cut', 200),
      killAgent(20),
      apply(40, fixedPod('web', {}, { labels: { a: 'b' } })),
    ],
    [],
    120 * SECOND,
  ),
  'the manifest of a pod is noise when it is removed': pointedStory([
    apply(0, manifest('web')),
    spoil(8, 'noise', 200),
    killAgent(20),
    remove(40, 'web'),
  ]),
};

/** Stories of files with unusual names. */
export const unusualFileNames: Readonly<Record<string, PointedStory>> = {
  'a manifest is in files with odd names': pointedStory(
    [
      apply(0, manifest('web')),
      ...['a b.json', '__proto__.json', 'äöü.yaml', 'constructor'].map((file, index) => copy(5 + index, file)),
    ],
    [],
    60 * SECOND,
  ),
  'a manifest gets an odd name, and another, while its agent is away': pointedStory([
    apply(0, manifest('web')),
    at(8, { kind: 'renameManifest', pod: WEB, file: '__proto__.json' }),
    killAgent(20, 10),
    at(25, { kind: 'renameManifest', pod: WEB, file: `${'x'.repeat(250)}.json` }),
    killAgent(45),
  ]),
};
