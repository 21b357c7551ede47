import { expect, test } from '@jest/globals';
import { createStaticPod } from '../../../actors/sources/manifest/manifestFile.ts';
import { readManifest } from '../../../kubernetes/api/pods/manifest.ts';
import { answers } from '../../kubernetes/api/answers/answers.ts';

const origin = {
  source: 'file',
  origin: '/pods/a.yaml',
  nodeName: 'node',
  firstSeenAt: 0,
  admittedPods: new Map(),
  isLenient: false,
} as const;

/** Returns the problems for which a manifest is rejected, in the notation of an API server. */
function problemsOf(pod: object): string {
  const read = createStaticPod(readManifest({ apiVersion: 'v1', kind: 'Pod', ...pod }), origin);
  if (!('problems' in read)) return 'accepted';
  const sentences = new Set(read.problems.map(({ path, message }) => `${path}: ${message}`));
  return sentences.size === 1 ? [...sentences].join() : `[${[...sentences].join(', ')}]`;
}

test.each(answers)(
  'C24: a manifest is rejected with the message of an API server: $case',
  ({ pod, answer, ofManifest }) => {
    expect(problemsOf(pod)).toBe(ofManifest ?? answer);
  },
);
