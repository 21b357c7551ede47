import { expect, test } from '@jest/globals';
import type { Pod } from '../../../../../kubernetes/api/schema/pod.ts';
import { formatExplanation } from '../../../../../show/explain/formatExplanation.ts';
import { explainPod } from '../../../../../show/explain.ts';
import { contradictions } from '../../../../../testing/simulation/invariants/statuses/contradictions.ts';
import { NOW, podView, running, seenPod } from '../../../../kubernetes/views.ts';

const seen = seenPod(podView({ main: { app: running() } }));
const explanation = explainPod(seen, NOW);
const text = formatExplanation(explanation);
/** Returns the contradictions between an explanation and a pod with these changes. */
const contradictionsOf = (over: Partial<Pod>, shownExplanation = explanation) =>
  contradictions(shownExplanation, text, { ...seen.pod, ...over }).map((each) => each.replace(`: ${text}`, ''));
const withStatus = (status: Pod['status']): Partial<Pod> => ({ status: { ...seen.pod.status, ...status } });

test('an explanation matches its pod', () => {
  expect(contradictionsOf({})).toEqual([]);
  expect(contradictions(explanation, text, undefined)).toEqual([]);
});

test.each([
  [' 1/1 ready', ' 7/1 ready', 'the title is different'],
  [' is running, with ', ' is walking, with ', 'the answer is different'],
])('a text with different content is detected: %s', (says, other, problem) => {
  const wrong = text.replace(says, other);
  expect(contradictions(explanation, wrong, undefined)).toEqual([`${problem}: ${wrong}`]);
});

test('an explanation without an answer is detected', () => {
  expect(contradictionsOf({}, { ...explanation, answer: ' ' })).toContain('there is no answer');
});

test.each<[string, Partial<Pod>, readonly string[]]>([
  ['has ended', withStatus({ phase: 'Failed' }), ['the answer does not mention that it has terminated']],
  ['is not running', withStatus({ phase: 'Pending' }), ['it is not running, it is Pending']],
  [
    'is being removed',
    { metadata: { ...seen.pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } },
    ['its deletionTimestamp contradicts the status Running'],
  ],
  ['has no container that is ready', withStatus({ containerStatuses: [] }), ['0 of 1 containers are ready, not 1/1']],
])('a pod that %s is distinguished from a running one', (_, over, problems) => {
  expect(contradictionsOf(over)).toEqual(expect.arrayContaining([...problems]));
});

test('wrong readiness and restart counts of a container are detected', () => {
  const [status] = seen.pod.status?.containerStatuses ?? [];
  if (status === undefined) throw new Error('the pod has no container');
  const [child] = explanation.pod.children;
  if (child === undefined) throw new Error('the pod has no actor of its container');
  const shown = { ...child, id: `container/${status.name}`, facts: ['ready', '3 restarts'] };
  const changedExplanation = { ...explanation, pod: { ...explanation.pod, children: [shown] } };
  const over = withStatus({ containerStatuses: [{ ...status, ready: false, restartCount: 2 }] });
  expect(contradictionsOf(over, changedExplanation)).toEqual(
    expect.arrayContaining(['app is not ready', 'app was restarted 2 times']),
  );
});

const NOT_READY = '1 of 1 containers are ready, not 0/1';

test('a pod may retain its status until all of its containers are known', () => {
  const [child] = explanation.pod.children;
  if (child === undefined) throw new Error('the pod has no actor of its container');
  const shown = { ...child, id: 'container/app', machine: 'container', facts: ['3 restarts'] };
  const changedExplanation = (state: string) => ({
    ...explanation,
    pod: { ...explanation.pod, children: [{ ...shown, state }] },
  });
  expect(contradictionsOf({}, changedExplanation('running.steady'))).toEqual(['app was restarted 0 times']);
  expect(contradictionsOf({}, changedExplanation('adopting.queryingRuntime'))).toEqual([]);
  const ready = withStatus({ conditions: [{ type: 'Ready', status: 'True' }] });
  expect(
    contradictionsOf(ready, { ...changedExplanation('adopting.queryingRuntime'), ready: '0/1' }),
  ).not.toContainEqual(NOT_READY);
  expect(contradictionsOf(ready, { ...changedExplanation('running.steady'), ready: '0/1' })).toContainEqual(NOT_READY);
});

test.each([
  ['container', ['steady'], true],
  ['container', ['done'], true],
  ['container', ['retrying'], false],
  ['volume', ['retrying', 'mounted'], true],
  ['volume', ['retrying'], false],
  ['activeDeadline', ['waiting'], true],
])(
  'the explanation of a ready pod must say that it runs, unless the pod waits for a part: %s, %j',
  (part, tags, isFound) => {
    const ready = { type: 'Ready', status: 'True' } as const;
    const [main] = explanation.pod.children;
    if (main === undefined) throw new Error('the pod has no actor of its container');
    const children = [
      { ...main, tags: ['steady'] },
      { ...main, id: `${part}/c1`, tags },
    ];
    const changedExplanation = { ...explanation, answer: 'c1 is waiting', pod: { ...explanation.pod, children } };
    expect(
      contradictionsOf(withStatus({ phase: 'Running', conditions: [ready] }), changedExplanation).includes(
        'the answer does not mention that it is running',
      ),
    ).toBe(isFound);
  },
);
