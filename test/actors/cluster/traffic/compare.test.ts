/** Checks that the comparison detects differences. */
import { expect, test } from '@jest/globals';
import { accountOf } from './account.ts';
import { differences } from './compare.ts';
import { POD_REASONS, undeclared } from './declared.ts';
import { recordedRequests, type SentRequest } from './recording.ts';

const textOf = ({ body }: SentRequest): string => JSON.stringify(body ?? null);

/** The recorded requests, without those that are specific to cgroup v1. */
const ALL = recordedRequests('16-evict').filter((each) => !textOf(each).includes('"limits":null'));
const kubelet = accountOf(ALL);

/** Returns the differences that result from replacing each request by those that `change` returns. */
const found = (change: (request: SentRequest) => readonly SentRequest[]): string[] =>
  differences(kubelet, accountOf(ALL.flatMap(change))).map(({ about, what }) => `${about}: ${what}`);

const withText =
  (verb: string, from: string, to: string) =>
  (request: SentRequest): SentRequest[] => {
    const body = () => JSON.parse(textOf(request).replaceAll(from, to));
    return [request.verb === verb ? { ...request, body: body() } : request];
  };

test('two runs that differ only in UIDs, times and addresses compare as equal', () => {
  expect(found((request) => [request])).toEqual([]);
  expect(found(withText('PATCH', '10.245.0.', '10.88.0.'))).toEqual([]);
  expect(found(withText('PATCH', '2026-11-22', '2026-01-01'))).toEqual([]);
});

test('a missing intermediate status is no difference, but a missing last one is', () => {
  const patches = ALL.filter(({ verb }) => verb === 'PATCH');
  const without = (index: number) => found((request) => (request === patches.at(index) ? [] : [request]));
  expect(without(1).filter((each) => !each.includes('a status that a kubelet does not tell'))).toEqual([]);
  expect(without(-1).join('\n')).toContain('its last status');
});

test.each([
  ['a different reason', withText('PATCH', 'PodCompleted', 'PodFailed'), 'a status that a kubelet does not tell'],
  [
    'a different order of conditions',
    withText('PATCH', '"type":"Initialized"},{"type":"Ready"}', '"type":"Ready"},{"type":"Initialized"}'),
    'order',
  ],
  ['a different event', withText('POST', 'Container started', 'It runs'), 'the event Normal Started'],
  ['a different fieldPath of an event', withText('POST', 'spec.containers{main}', 'spec.containers{side}'), 'no event'],
  ['a missing field in events', withText('POST', '"reportingInstance"', '"reported"'), 'no POST reportingInstance'],
  [
    'a different grace period of the deletion',
    withText('DELETE', '"gracePeriodSeconds":0', '"gracePeriodSeconds":30'),
    'no request DELETE',
  ],
  [
    'an additional request',
    (request: SentRequest) => (request.verb === 'GET' ? [request, request] : [request]),
    'GETs, a kubelet',
  ],
  [
    'an additional patch',
    (request: SentRequest) => (request.verb === 'PATCH' ? [request, request] : [request]),
    'patches of its status',
  ],
  [
    'a deletion before the final status',
    (request: SentRequest) =>
      request.verb === 'DELETE'
        ? []
        : request === ALL[0]
          ? [...ALL.filter(({ verb }) => verb === 'DELETE'), request]
          : [request],
    'the order of its requests',
  ],
  ['a different kind of request', (request: SentRequest) => [request, { ...request, verb: 'PUT' }], 'also PUT'],
] as const)('%s is detected as a difference', (_what, change, text) => {
  expect(found(change).join('\n')).toContain(text);
});

const WITH_OBJECTS = recordedRequests('08-volumes').filter((each) => !textOf(each).includes('9007199254740988Ki'));

test.each([
  ['an object that is not watched', 'configmaps', 'cm', 0, 'no watch configmaps/cm'],
  ['an additional watch', 'secrets', 'sec', 2, '4 watches secrets/sec, a kubelet sends 2'],
] as const)('%s is detected as a difference between watches', (_what, kind, object, often, text) => {
  const node = WITH_OBJECTS.flatMap((each) =>
    each.object === object && each.path.endsWith(kind) ? Array.from({ length: often }, () => each) : [each],
  );
  expect(differences(accountOf(WITH_OBJECTS), accountOf(WITH_OBJECTS))).toEqual([]);
  expect(differences(accountOf(WITH_OBJECTS), accountOf(node))).toEqual([{ about: 'objects', what: text }]);
});

test('a token for another audience and a token requested twice are differences', () => {
  const isToken = ({ path }: SentRequest) => path.endsWith('/token');
  const others = WITH_OBJECTS.map((each) => ({ ...each, body: JSON.parse(textOf(each).replace('vault', 'bank')) }));
  const twice = WITH_OBJECTS.flatMap((each) => (isToken(each) ? [each, each] : [each]));
  const found = [others, twice].map((node) => differences(accountOf(WITH_OBJECTS), accountOf(node)));
  expect(found[0]?.map(({ what }) => what.slice(0, 40))).toContain('no token default {"audiences":["vault"],');
  expect(found[1]?.map(({ what }) => what.slice(0, 40))).toContain('the token default {"audiences":["vault"]');
});

test('every declared difference must be found, and every found difference must be declared', () => {
  const other = { about: 'pod blocks', what: 'its last status: - phase Succeeded' };
  const resources = {
    about: 'pod blocks',
    what: 'its last status: - resources {}; + resources {"requests":{"cpu":"1"}}',
  };
  expect(undeclared(POD_REASONS, '15-resize', [resources])).toEqual({ undeclared: [], notFound: [] });
  expect(undeclared(POD_REASONS, '15-resize', [resources, other])).toMatchObject({ undeclared: [other] });
  expect(undeclared(POD_REASONS, '15-resize', []).notFound).toHaveLength(1);
});
