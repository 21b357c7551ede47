/** Requests and watches on their way to the API server of a simulation. */
import { expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import { Api } from '../../../../testing/apiserver/api.ts';
import { ApiNetwork } from '../../../../testing/simulation/cluster/apiNetwork.ts';

const user = { name: 'admin', groups: ['system:masters'] };
const json = new Map([['content-type', 'application/json']]);

function network() {
  const api = new Api({ clock: new SimulatedClock(), tokens: new Map(), address: 'localhost:6443' });
  const way = new ApiNetwork(api);
  const ask = (method: string, url: string, body?: object, signal = new AbortController().signal) =>
    way.send({ method, url, headers: json, body: body ? JSON.stringify(body) : '', user }, signal);
  /** Watches the namespaces. Returns the names that the watch reports, and a promise of how the watch ended. */
  const watch = async () => {
    const names: string[] = [];
    const { body } = await ask('GET', `/api/v1/namespaces?watch=true&resourceVersion=${api.registry.store.revision}`);
    const ended = (async () => {
      try {
        for await (const line of body) names.push(JSON.parse(line).object.metadata.name);
        return 'ended';
      } catch (error) {
        return String(error);
      }
    })();
    return { names, ended };
  };
  const make = (name: string) =>
    api.respond({
      method: 'POST',
      url: '/api/v1/namespaces',
      headers: json,
      body: JSON.stringify({ metadata: { name } }),
      user,
    });
  return { way, ask, watch, make };
}

test('an API server that is down refuses connections, and its watches break', async () => {
  const { way, ask, watch, make } = network();
  const { names, ended } = await watch();
  await make('one');
  way.goAway('refused');
  expect(await ended).toBe('Error: read ECONNRESET');
  await expect(ask('GET', '/api/v1/namespaces/one')).rejects.toThrow('ECONNREFUSED');
  expect(way.hasFault).toBe(true);
  way.comeBack();
  expect(way.hasFault).toBe(false);
  expect(await ask('GET', '/api/v1/namespaces/one')).toMatchObject({ code: 200 });
  expect(names).toEqual(['one']);
});

test('requests to a hanging API server hang until they are aborted or lost, and watches report nothing', async () => {
  const { way, ask, watch, make } = network();
  const { names, ended } = await watch();
  way.goAway('hanging');
  const givenUp = new AbortController();
  const one = ask('DELETE', '/api/v1/namespaces/default', undefined, givenUp.signal);
  const other = ask('DELETE', '/api/v1/namespaces/kube-public');
  givenUp.abort(new Error('too late'));
  await expect(one).rejects.toThrow('too late');
  await make('one');
  way.comeBack();
  await expect(other).rejects.toThrow('ECONNRESET');
  expect([await ended, names]).toEqual(['Error: read ECONNRESET', []]);
  // The lost deletions have not taken effect.
  const response = await ask('GET', '/api/v1/namespaces/kube-public');
  for await (const text of response.body) expect(JSON.parse(text).metadata.deletionTimestamp).toBeUndefined();
  expect(response.code).toBe(200);
});

test('watches can become silent, including new ones, until their connections break', async () => {
  const { way, watch, make } = network();
  const before = await watch();
  way.silence();
  const then = await watch();
  await make('one');
  way.endSilence();
  expect([await before.ended, await then.ended]).toEqual(Array(2).fill('Error: read ECONNRESET'));
  const after = await watch();
  await make('two');
  way.cut();
  expect([await after.ended, before.names, then.names, after.names]).toEqual([
    'Error: read ECONNRESET',
    [],
    [],
    ['two'],
  ]);
});

test('a status patch that changes nothing is reported', async () => {
  const { way, ask } = network();
  const idle: string[] = [];
  way.onIdlePatch = (path) => idle.push(path);
  await ask('POST', '/api/v1/nodes', { metadata: { name: 'node-1' } });
  json.set('content-type', 'application/merge-patch+json');
  const patch = (phase: string) => ask('PATCH', '/api/v1/nodes/node-1/status', { status: { phase } });
  await patch('Running');
  expect(idle).toEqual([]);
  await patch('Running');
  expect(idle).toEqual(['/api/v1/nodes/node-1/status']);
  json.set('content-type', 'application/json');
});
