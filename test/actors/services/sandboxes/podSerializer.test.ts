import { expect, test } from '@jest/globals';
import { createPodSerializer } from '../../../../actors/services/sandboxes/podSerializer.ts';

/** Starts operations that run until the test ends them, and records which ones have started. */
function works(inTurn: ReturnType<typeof createPodSerializer>) {
  const begun: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const begin = (name: string, of: { uid: string; volume?: string }) => {
    const work = Promise.withResolvers<void>();
    ends.set(name, work);
    const done = inTurn(of, () => {
      begun.push(name);
      return work.promise;
    });
    done.catch(() => {});
    return done;
  };
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return {
    begin,
    begun: async () => {
      await settled();
      return begun;
    },
    end: (name: string) => ends.get(name)?.resolve(),
    fail: (name: string) => ends.get(name)?.reject(new Error(name)),
  };
}

test('volume operations of a pod run in parallel, pod operations wait for all of them, and other pods wait for none', async () => {
  const { begin, begun, end } = works(createPodSerializer());
  begin('mount a', { uid: 'one', volume: 'a' });
  begin('mount b', { uid: 'one', volume: 'b' });
  begin('unmount a', { uid: 'one', volume: 'a' });
  begin('erase', { uid: 'one' });
  begin('other', { uid: 'two' });
  expect(await begun()).toEqual(['mount a', 'mount b', 'other']);
  end('mount a');
  expect(await begun()).toEqual(['mount a', 'mount b', 'other', 'unmount a']);
  end('unmount a');
  expect(await begun()).not.toContain('erase');
  end('mount b');
  expect(await begun()).toContain('erase');
});

test('a failed operation releases the next one like a successful one, and its caller gets the error', async () => {
  const { begin, begun, fail } = works(createPodSerializer());
  const first = begin('prepare', { uid: 'one' });
  begin('mount', { uid: 'one', volume: 'a' });
  expect(await begun()).toEqual(['prepare']);
  fail('prepare');
  await expect(first).rejects.toThrow('prepare');
  expect(await begun()).toEqual(['prepare', 'mount']);
});
