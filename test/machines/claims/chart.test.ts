import { describe, expect, test } from '@jest/globals';
import { createActor, setup } from 'xstate';
import type { ClaimState, RegisteredDriver } from '../../../kubernetes/claims/claimState.ts';
import { claimsMachine } from '../../../machines/claims/chart.ts';
import { provideActors } from '../../../machines/shared/ports.ts';
import { statePath } from '../../../machines/shared/stateMeta.ts';
import { FakePorts } from '../../fakes/ports.ts';
import { START } from '../support/stand.ts';

const claim: ClaimState = {
  uid: 'u1',
  name: 'gpu-1',
  namespace: 'default',
  podUids: ['web'],
  drivers: [],
  isPrepared: true,
};
const gpu = (isConnected: boolean): RegisteredDriver => ({
  name: 'gpu',
  isConnected,
  service: 'v1.DRAPlugin',
  endpoints: [],
});

/** Creates the claims actor below a fake node that records the events it receives. */
function claimsStory() {
  const ports = new FakePorts(START);
  const heard: string[] = [];
  const machine = provideActors(claimsMachine, ports);
  const node = setup({ actors: { claims: machine } }).createMachine({
    context: ({ spawn }) => {
      spawn('claims', { id: 'claims' });
      return {};
    },
    on: { '*': { actions: ({ event }) => void heard.push(event.type) } },
  });
  const { claims } = createActor(node).start().getSnapshot().children;
  if (claims === undefined) throw new Error('the actor was not spawned');
  const actor = claims as ReturnType<typeof createActor<typeof machine>>;
  const childState = (id: string) => {
    const child = Object.entries(actor.getSnapshot().children).find(([key]) => key === id)?.[1];
    return child && statePath(Object(child.getSnapshot()).value);
  };
  return {
    ports,
    heard: () => heard.splice(0),
    list: (activePodUids: readonly string[] | undefined) => actor.send({ type: 'claims.podsListed', activePodUids }),
    hold: (...held: readonly ClaimState[]) => actor.send({ type: 'claims.changed', claims: held }),
    drivers: (...drivers: readonly RegisteredDriver[]) => actor.send({ type: 'drivers.changed', drivers, at: START }),
    state: () => statePath(actor.getSnapshot().value),
    context: () => actor.getSnapshot().context,
    slices: () => childState('slices'),
    driver: () => childState('driver/gpu'),
  };
}

describe('C50: claims whose pods are gone', () => {
  test('are unprepared at the check of every minute', () => {
    const { ports, heard, hold, list, state } = claimsStory();
    hold(claim);
    ports.advance(59_000);
    expect(heard()).toEqual([]);
    ports.advance(1_000);
    expect(heard()).toEqual(['claims.podsRequested']);
    list(['other']);
    expect(ports.asked('unprepareLeftoverClaims')).toEqual([{ activePodUids: ['other'] }]);
    ports.answer('unprepareLeftoverClaims', null);
    expect(state()).toBe('waiting');
  });

  test('are tried again a minute after a failure, which is shown meanwhile', () => {
    const { ports, hold, list, state, context } = claimsStory();
    hold(claim);
    ports.advance(60_000);
    list([]);
    ports.fail('unprepareLeftoverClaims', 'FailedUnprepareDynamicResources', 'busy');
    expect([state(), context().failure?.message]).toEqual(['waiting', 'busy']);
    ports.advance(60_000);
    list([]);
    expect(ports.asked('unprepareLeftoverClaims')).toHaveLength(2);
    ports.answer('unprepareLeftoverClaims', null);
    expect(context().failure).toBeUndefined();
  });

  test.each([
    ['a pod uses them', ['web']],
    ['a source has not listed its pods', undefined],
  ])('are left alone while %s', (_, activePodUids) => {
    const { ports, hold, list, state } = claimsStory();
    hold(claim);
    ports.advance(60_000);
    list(activePodUids);
    expect([state(), ports.asked('unprepareLeftoverClaims')]).toEqual(['waiting', []]);
  });
});

describe('C50: the ResourceSlices', () => {
  test('of all drivers are deleted at the start, after growing delays until that succeeds', () => {
    const { ports, slices } = claimsStory();
    expect(ports.asked('deleteResourceSlices')).toEqual([{ driver: undefined }]);
    for (const delayMs of [1_000, 2_000, 4_000]) {
      ports.fail('deleteResourceSlices', 'InternalError', 'refused');
      expect(slices()).toBe('awaitingRetry');
      ports.advance(delayMs - 1);
      expect(slices()).toBe('awaitingRetry');
      ports.advance(1);
      expect(slices()).toBe('deleting');
    }
    ports.answer('deleteResourceSlices', null);
    expect(slices() ?? 'deleted').toBe('deleted');
  });

  test('of a driver are deleted 30 s after its connection was lost', () => {
    const { ports, drivers, driver } = claimsStory();
    ports.answer('deleteResourceSlices', null);
    drivers(gpu(true));
    expect(driver()).toBe('connected');
    drivers(gpu(false));
    ports.advance(29_999);
    expect(driver()).toBe('disconnected');
    ports.advance(1);
    expect(ports.asked('deleteResourceSlices').at(-1)).toEqual({ driver: 'gpu' });
    ports.answer('deleteResourceSlices', null);
    expect(driver()).toBe('gone');
    drivers(gpu(true));
    expect(driver()).toBe('connected');
  });

  test('of a driver that never connects are deleted 30 s after its registration', () => {
    const { ports, drivers, driver } = claimsStory();
    ports.answer('deleteResourceSlices', null);
    drivers(gpu(false));
    ports.advance(29_999);
    expect(driver()).toBe('disconnected');
    ports.advance(1);
    expect(ports.asked('deleteResourceSlices').at(-1)).toEqual({ driver: 'gpu' });
  });

  test('of a driver that is not registered any more are deleted as well', () => {
    const { ports, drivers, driver } = claimsStory();
    ports.answer('deleteResourceSlices', null);
    drivers(gpu(true));
    drivers();
    ports.advance(30_000);
    expect(driver()).toBe('deletingSlices');
  });

  test('of a driver that is back are not deleted any more', () => {
    const { ports, drivers, driver } = claimsStory();
    ports.answer('deleteResourceSlices', null);
    drivers(gpu(true));
    drivers(gpu(false));
    ports.advance(30_000);
    ports.fail('deleteResourceSlices', 'InternalError', 'refused');
    drivers(gpu(true));
    ports.advance(600_000);
    expect([driver(), ports.asked('deleteResourceSlices').length]).toEqual(['connected', 2]);
  });
});
