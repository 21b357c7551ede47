import { describe, expect, test } from '@jest/globals';
import { machineAt } from '../../../machines/drawing/stateTags.ts';
import { actorSteps, containerNameOf, podUidOf } from '../../../show/actors/actorPath.ts';
import { representativeOf } from '../../../web/model/story/rows/storyRows.ts';
import { kindOf } from '../../../web/model/story/storyWho.ts';

test('a path is parsed from the left into kinds with names and unique actors', () => {
  expect(actorSteps('')).toEqual([]);
  expect(actorSteps('startLimiter')).toEqual([{ name: 'startLimiter' }]);
  expect(actorSteps('pod/u/container/web/probe/liveness')).toEqual([
    { kind: 'pod', name: 'u' },
    { kind: 'container', name: 'web' },
    { kind: 'probe', name: 'liveness' },
  ]);
  expect(actorSteps('pod/u/volume/data/image/0.image.pulling')).toEqual([
    { kind: 'pod', name: 'u' },
    { kind: 'volume', name: 'data' },
    { name: 'image' },
    { name: '0.image.pulling' },
  ]);
});

describe.each(['image', 'pod', 'probe', 'volume', 'container', 'garbage', 'admission', 'start-limiter'])(
  'the name %s',
  (name) => {
    test.each(['container', 'volume'] as const)('is parsed as the name of a %s', (kind) => {
      const path = `pod/u/${kind}/${name}`;
      expect([machineAt(path), kindOf(path), representativeOf(path)]).toEqual([kind, kind, path]);
      expect([machineAt(`${path}/image`), kindOf(`${path}/image`), representativeOf(`${path}/image`)]).toEqual([
        'image',
        'image',
        path,
      ]);
      expect(machineAt(`${path}/0.${kind}.waiting`)).toBeUndefined();
    });

    test('may have probes and be the UID of a pod', () => {
      const probe = `pod/${name}/container/${name}/probe/readiness`;
      expect([machineAt(probe), kindOf(probe)]).toEqual(['probe', 'probe']);
      expect([machineAt(`pod/${name}`), kindOf(`pod/${name}`)]).toEqual(['pod', 'pod']);
    });
  },
);

test.each([
  ['', undefined, undefined],
  ['sources/file', undefined, undefined],
  ['statusSink/pod', undefined, undefined],
  ['pod/constructor', 'constructor', undefined],
  ['pod/u/volume/container', 'u', undefined],
  ['pod/u/container/image/image', 'u', 'image'],
  ['pod/u/container/web/probe/readiness', 'u', 'web'],
])('the path "%s" belongs to pod %s, container %s', (path, uid, container) => {
  expect(podUidOf(path)).toBe(uid);
  expect(containerNameOf(path)).toBe(container);
});
