import { expect, jest, test } from '@jest/globals';
import { Random } from '../../../../testing/simulation/random.ts';
import { type CallFault, Gate, type GateParts, type OutsideCall } from '../../../../testing/simulation/run/gate.ts';
import { Schedule } from '../../../../testing/simulation/run/schedule.ts';

/** Returns a gate at which every call has this fault. */
const gateOf = (fault?: CallFault, parts: Partial<GateParts> = {}) =>
  new Gate({
    clock: new Schedule(0),
    plan: () => fault,
    nextIndex: () => 0,
    faultsEnded: async () => {},
    onCall: () => {},
    onAgentDied: () => {},
    ...parts,
  });

const write: OutsideCall = { target: 'disk', name: 'writeFile', about: '/pods', writes: true };
const turn = () => new Promise<void>((resolve) => void setImmediate(resolve));

test('a watch whose reply is lost is closed, because its caller could not close it', () => {
  const undo = jest.fn();
  const call = { target: 'disk', name: 'watch', about: '/pods', writes: false } as const;
  const passing = { act: () => 'watching', failure: () => new Error('lost'), undo };
  expect(gateOf().passSync(call, passing)).toBe('watching');
  expect(() => gateOf({ kind: 'fail' }).passSync(call, passing)).toThrow('lost');
  expect(undo).not.toHaveBeenCalled();
  expect(() => gateOf({ kind: 'lostReply' }).passSync(call, passing)).toThrow('lost');
  expect(undo.mock.calls).toEqual([['watching']]);
});

/** Passes a call with this fault through a gate. Returns what happens, each with the time of the simulation. */
async function eventsOf(fault?: CallFault) {
  const clock = new Schedule(0);
  const log: string[] = [];
  const note = (what: string) => void log.push(`${clock.elapsed} ${what}`);
  const faultsEnded = () => new Promise<void>((resolve) => void clock.setTimeout(resolve, 9_000));
  const onDeath = () => {
    note('death');
    gate.close({ cutsCalls: false });
  };
  const gate = gateOf(fault, { clock, faultsEnded, onAgentDied: onDeath });
  const passing = {
    act: () => note('done'),
    actPartly: async () => note('part'),
    failure: () => new Error('no reply'),
  };
  gate.pass(write, passing).then(
    () => note('answer'),
    ({ message }) => note(message),
  );
  await clock.advance(20_000, turn);
  return log;
}

test.each<[string, CallFault | undefined, string[]]>([
  ['takes effect and returns', undefined, ['0 done', '0 answer']],
  ['fails without an effect', { kind: 'fail' }, ['0 no reply']],
  ['fails with a partial effect', { kind: 'fail', inPart: true }, ['0 part', '0 no reply']],
  ['takes effect, and its reply is lost', { kind: 'lostReply' }, ['0 done', '0 no reply']],
  ['takes effect late', { kind: 'late', ms: 3_000 }, ['3000 done', '3000 answer']],
  ['takes effect when faults end', { kind: 'hang' }, ['9000 done', '9000 answer']],
  ['has no effect before the agent dies', { kind: 'death', when: 'before' }, ['0 death']],
  ['has a partial effect before the agent dies', { kind: 'death', when: 'during' }, ['0 part', '0 death']],
  ['takes effect before the agent dies', { kind: 'death', when: 'after' }, ['0 done', '0 death']],
])('a call %s', async (_, fault, comes) => {
  expect(await eventsOf(fault)).toEqual(comes);
});

test('a call that hangs ends when its caller aborts', async () => {
  const giving = new AbortController();
  const faultsEnded = () => new Promise<void>(() => {});
  const act = jest.fn(() => 'done');
  const passing = { act, failure: () => new Error('lost'), signal: giving.signal };
  const answer = gateOf({ kind: 'hang' }, { faultsEnded }).pass(write, passing);
  giving.abort(new Error('given up'));
  await expect(answer).rejects.toThrow('given up');
  expect(act).not.toHaveBeenCalled();
});

test('the order in which calls are answered is random', async () => {
  const orderOf = async (seed: number, target: OutsideCall['target']) => {
    const clock = new Schedule(0);
    const gate = gateOf(undefined, { clock, overtakes: new Random(seed) });
    const order: number[] = [];
    for (let number = 0; number < 20; number += 1) {
      const passing = { act: () => {}, failure: () => new Error('lost') };
      void gate.pass({ ...write, target }, passing).then(() => order.push(number));
    }
    await clock.advance(1_000, turn);
    return order;
  };
  const inOrder = Array.from({ length: 20 }, (_, number) => number);
  const drawn = await orderOf(1, 'disk');
  expect(drawn).not.toEqual(inOrder);
  expect(drawn.toSorted((one, other) => one - other)).toEqual(inOrder);
  expect(await orderOf(1, 'disk')).toEqual(drawn);
  expect(await orderOf(2, 'disk')).not.toEqual(drawn);
  // Calls to the runtime have durations of their own.
  expect(await orderOf(1, 'runtime')).toEqual(inOrder);
});
