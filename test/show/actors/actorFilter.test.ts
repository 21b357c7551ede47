import { describe, expect, test } from '@jest/globals';
import { type FilteredActor, parseFilter } from '../../../show/actors/actorFilter.ts';
import { NOW } from '../../kubernetes/views.ts';

const crash: FilteredActor = {
  node: {
    machine: 'container',
    kind: 'regular',
    name: 'app',
    state: 'ended.backingOff',
    tags: ['retrying'],
    since: NOW - 45_000,
    waitingFor: 'the end of its crash-loop back-off',
    lastFailure: { reason: 'RunContainerError', message: 'No such file', at: NOW - 45_000 },
  },
  namespace: 'shop',
  podName: 'web',
  now: NOW,
};
const well: FilteredActor = {
  node: { machine: 'limiter', kind: 'limiter', name: 'start', state: 'open', tags: ['steady'], since: NOW - 90_000 },
  now: NOW,
};
const sidecar: FilteredActor = { ...crash, node: { ...crash.node, kind: 'sidecar', state: 'running.steady x.y' } };

/** Returns the actors that match a filter. */
function found(text: string): string {
  const read = parseFilter(text);
  if ('problem' in read) throw new Error(read.problem);
  const all = { crash, well, sidecar };
  return Object.entries(all)
    .flatMap(([name, actor]) => (read.matches(actor) ? [name] : []))
    .join(' ');
}

describe('a filter matches actors that match all of its words', () => {
  test.each([
    ['', 'crash well sidecar'],
    ['shop/web', 'crash sidecar'],
    ['APP', 'crash sidecar'],
    ['no such', 'crash sidecar'],
    ['no-such', ''],
    ['such back-off', 'crash sidecar'],
    ['state:backingoff', 'crash'],
    ['state:ended.back', 'crash'],
    ['state:off', ''],
    ['state:x', 'sidecar'],
    ['ns:shop', 'crash sidecar'],
    ['ns:sho', ''],
    ['kind:container', 'crash sidecar'],
    ['kind:sidecar', 'sidecar'],
    ['kind:limiter', 'well'],
    ['is:retrying', 'crash sidecar'],
    ['is:retrying kind:regular', 'crash'],
    ['is:steady', 'well'],
    ['waits>30s', 'crash sidecar'],
    ['waits>1m', ''],
    ['waits<1m', 'crash sidecar'],
    ['changed<1m', 'crash sidecar'],
    ['changed>1m  start', 'well'],
  ])('%j', (text, names) => expect(found(text)).toBe(names));

  test('a filter ignores a failure that the actor has recovered from', () => {
    const read = parseFilter('such file');
    const over: FilteredActor = { ...crash, node: { ...crash.node, tags: ['steady'] } };
    expect('matches' in read && [read.matches(crash), read.matches(over)]).toEqual([true, false]);
  });

  test('a probe attempt in progress does not hide the last result', () => {
    const probe = { ...crash, node: { ...crash.node, machine: 'probe', tags: ['working', 'failing'] } };
    const [retrying, working] = [parseFilter('is:retrying'), parseFilter('is:working')];
    expect('matches' in retrying && retrying.matches(probe)).toBe(true);
    expect('matches' in working && working.matches(probe)).toBe(false);
  });
});

describe('a syntax error is described in one sentence', () => {
  test.each([
    ['stat:x', 'stat:x: unknown filter stat:; did you mean state:?'],
    [
      'constructor:x',
      'constructor:x: unknown filter constructor:; there are state: ns: kind: is: waits> waits< changed< changed>',
    ],
    ['wait>3s', 'wait>3s: unknown filter wait>; did you mean waits>?'],
    ['waits>', 'waits>: expected a duration such as 30s or 1m30s after waits>'],
    ['web changed<soon', 'changed<soon: expected a duration such as 30s or 1m30s after changed<'],
    ['ns:', 'ns:: expected a value after ns:'],
    [
      'is:retying',
      'is:retying: expected one of broken, retrying, failed, waiting, working, steady, done; did you mean retrying?',
    ],
  ])('%j', (text, problem) => expect(parseFilter(text)).toEqual({ problem }));
});
