import { expect, test } from '@jest/globals';
import { createChangeDetector } from '../../../actors/sources/changeDetector.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { SourceProblem } from '../../../machines/shared/events/events.ts';
import { namedPod } from '../../machines/support/nodeStory.ts';

const [a, b, c] = ['a', 'b', 'c'].map((name) => namedPod(name)) as [Pod, Pod, Pod];
const wrong = (file: string, message = 'wrong'): SourceProblem => ({ file, path: 'spec', message });

/** Returns a function that publishes successive sets of a source, all of them at time 7. */
function publishing() {
  const changes = createChangeDetector('file', { now: () => 7 });
  return (pods: readonly Pod[], problems: readonly SourceProblem[] = [], warnings: readonly SourceProblem[] = []) =>
    changes({ pods, problems, warnings });
}

test('the first set is published completely, even if it is empty', () => {
  const problems = [wrong('/x')];
  expect(publishing()([a, b], problems)).toEqual([
    { type: 'config.podsListed', source: 'file', pods: [a, b], problems, warnings: [], at: 7 },
  ]);
  expect(publishing()([])).toEqual([
    { type: 'config.podsListed', source: 'file', pods: [], problems: [], warnings: [], at: 7 },
  ]);
});

test('every set is published completely until one is not partial', () => {
  const changes = createChangeDetector('file', { now: () => 7 });
  const listed = { type: 'config.podsListed', source: 'file', warnings: [], at: 7 };
  const partial = { pods: [a], problems: [wrong('/b')], warnings: [], isPartial: true } as const;
  expect(changes(partial)).toEqual([{ ...listed, ...partial }]);
  expect(changes({ pods: [a], problems: [], warnings: [] })).toEqual([{ ...listed, pods: [a], problems: [] }]);
  expect(changes({ pods: [a], problems: [], warnings: [] })).toEqual([]);
});

test('a set with the same content is not published, whatever its order and object identities are', () => {
  const tell = publishing();
  tell([a, b], [wrong('/x')]);
  expect(tell([{ ...b, metadata: { ...b.metadata } }, a], [wrong('/x')])).toEqual([]);
});

test('of a later set only the changes are published, removals first because a new pod may need the name', () => {
  const tell = publishing();
  tell([a, b]);
  const edited = { ...a, spec: { ...a.spec, hostNetwork: true } };
  const about = { type: 'config.podChanged', source: 'file', at: 7 };
  expect(tell([c, edited])).toEqual([
    { ...about, change: 'removed', uid: 'b-uid' },
    { ...about, change: 'added', pod: c },
    { ...about, change: 'updated', pod: edited },
  ]);
});

test('a change of one of many pods is published, wherever the pod is in the set', () => {
  const about = { type: 'config.podChanged', source: 'file', at: 7 };
  const many = Array.from({ length: 4 }, (_, index) => namedPod(`pod-${index}`));
  for (const [index, pod] of many.entries()) {
    const edited = { ...pod, spec: { ...pod.spec, hostNetwork: true } };
    const tell = publishing();
    tell(many);
    expect(tell(many.with(index, edited))).toEqual([{ ...about, change: 'updated', pod: edited }]);
    expect(tell(many.toSpliced(index, 1))).toEqual([{ ...about, change: 'removed', uid: pod.metadata.uid }]);
    expect(tell(many)).toEqual([{ ...about, change: 'added', pod }]);
    expect(tell([...many])).toEqual([]);
  }
});

test('problems and warnings are published only for files for which they changed', () => {
  const tell = publishing();
  tell([], [wrong('/x'), wrong('/y')], [wrong('/x', 'odd')]);
  const about = { type: 'config.problemsChanged', source: 'file' };
  expect(tell([], [wrong('/x'), wrong('/y', 'worse')], [wrong('/x', 'odd')])).toEqual([
    { ...about, file: '/y', problems: [wrong('/y', 'worse')], warnings: [] },
  ]);
  expect(tell([], [wrong('/y', 'worse')], [wrong('/x', 'odd')])).toEqual([
    { ...about, file: '/x', problems: [], warnings: [wrong('/x', 'odd')] },
  ]);
  expect(tell([], [], [wrong('/x', 'odd')])).toEqual([{ ...about, file: '/y', problems: [], warnings: [] }]);
});

test('problems and warnings of one URL are published only for pods for which they changed', () => {
  const tell = publishing();
  const of = (pod: string, message: string) => ({ ...wrong('http://host/pods', message), pod });
  const common = { type: 'config.problemsChanged', source: 'file', file: 'http://host/pods' };
  tell([], [wrong('http://host/pods')], [of('default/a', 'odd'), of('default/b', 'odd')]);
  expect(tell([], [wrong('http://host/pods')], [of('default/a', 'odd'), of('default/b', 'odder')])).toEqual([
    { ...common, pod: 'default/b', problems: [], warnings: [of('default/b', 'odder')] },
  ]);
  expect(tell([], [], [of('default/a', 'odd'), of('default/b', 'odder')])).toEqual([
    { ...common, problems: [], warnings: [] },
  ]);
});
