import { expect, test } from '@jest/globals';
import { createAudience } from '../../../inspect/live/audience.ts';
import type { RecordingLine } from '../../../recording/lines.ts';

const event = {
  ...({ type: 'event.recorded', at: 1, eventType: 'Normal', reason: 'Started', message: 'secret' } as const),
  involved: { kind: 'Pod', apiVersion: 'v1', namespace: 'default', name: 'web', uid: 'u' },
};

test('without an audience nothing is serialized and no secrets are searched', () => {
  let redacted = 0;
  const { listeners: parts } = createAudience((value) => {
    redacted += 1;
    return value;
  });
  const entry = new Proxy(
    {},
    {
      get: () => {
        throw new Error('it is looked into');
      },
      ownKeys: () => {
        throw new Error('it is copied');
      },
    },
  );
  for (const tell of Object.values(parts)) {
    // Every listener ignores the content of the entry.
    if (tell !== parts.events) tell(entry as never);
  }
  parts.events(event as never);
  expect(redacted).toBe(0);
});

test('each listener receives what it subscribed to, without secrets, until it leaves', () => {
  // Redacts a secret in the JSON of any value.
  const audience = createAudience((value) => JSON.parse(JSON.stringify(value).replaceAll('secret', 'held back')));
  const lines: RecordingLine[] = [];
  const inspected: unknown[] = [];
  const leaveLines = audience.add({ line: (line) => lines.push(line) });
  const leaveInspected = audience.add({ inspect: (each) => inspected.push(each) });
  const tell = () => {
    audience.listeners.onInput({ kind: 'answer', at: 1, actor: 'a', source: 's', value: 1 });
    audience.listeners.onPortCall({ at: 2, actor: 'a', port: 'pullImage', about: 'image' });
    audience.listeners.onStateChange({ at: 3, actor: 'a', state: 'running' });
    audience.listeners.events(event as never);
    audience.listeners.inspect({ type: '@xstate.snapshot' } as never);
  };
  tell();
  expect(lines).toEqual([
    { kind: 'answer', at: 1, actor: 'a', source: 's', value: 1 },
    { kind: 'asked', at: 2, actor: 'a', port: 'pullImage', about: 'image' },
    { kind: 'state', at: 3, actor: 'a', state: 'running' },
    { kind: 'event', at: 1, eventType: 'Normal', reason: 'Started', message: 'held back', involved: event.involved },
  ]);
  expect(inspected).toHaveLength(1);
  leaveLines();
  tell();
  expect([lines.length, inspected.length]).toEqual([4, 2]);
  leaveInspected();
  tell();
  expect(inspected).toHaveLength(2);
});

test('a listener that throws does not affect the others', () => {
  const audience = createAudience((value) => value);
  const heard: string[] = [];
  for (const name of ['first', 'second'])
    audience.add({
      line: () => {
        throw new Error(`line of the ${name}`);
      },
      inspect: () => {
        throw new Error(`inspected by the ${name}`);
      },
    });
  audience.add({ line: ({ kind }) => heard.push(kind), inspect: ({ type }) => heard.push(type) });
  // The caller reports the error of an observer.
  expect(() => audience.listeners.onStateChange({ at: 3, actor: 'a', state: 'running' })).toThrow('line of the first');
  expect(() => audience.listeners.inspect({ type: '@xstate.snapshot' } as never)).toThrow('inspected by the first');
  expect(heard).toEqual(['state', '@xstate.snapshot']);
});
